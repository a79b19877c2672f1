import { z } from 'zod';
import { APPLICATION_SCOPES } from './scopes.ts';

/** What a connected client is: a developer's application, a registered website, or a program that registered itself. */
export const CLIENT_KINDS = ['application', 'website', 'metadata_document', 'registered'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** A connection: the grants of one person to one client of OpenID Connect. */
export const Connection = z.object({
  id: z.string().meta({ description: 'Id of the connection; not a secret' }),
  clientId: z.string(),
  name: z.string(),
  host: z.string().nullable().meta({ description: 'Host of its website or redirect URI; null: a program on a device' }),
  kind: z.enum(CLIENT_KINDS),
  scopes: z.array(z.enum(APPLICATION_SCOPES)),
  createdAt: z.string().meta({ description: 'When it was first allowed' }),
  lastUsed: z.string().meta({ description: 'When it last received a token' }),
});
export const ConnectionList = z.array(Connection);
export const ConnectionParams = z.object({ id: z.string().regex(/^[0-9a-f]{32}$/, 'Not an id of a connection') });
