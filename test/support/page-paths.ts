import { paths } from '../../web/pages.ts';

/** The paths of the pages of the web app, without those that are patterns. */
export const pagePaths = Object.values(paths).filter((path) => !/[:*]/.test(path));
