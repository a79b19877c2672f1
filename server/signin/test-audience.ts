/** A space is in no host name, so that no website can name this audience. */
const PREFIX = 'test ';

/** Returns what the token of a test sign-in is for, in the column of its host: the website's page in the portal, and not the website. */
export const testAudience = (domain: string): string => PREFIX + domain;

/** Returns the SQL condition that a token is of a test sign-in. @param host the column, as SQL */
export const isTestAudience = (host: string): string => `starts_with(${host}, '${PREFIX}')`;
