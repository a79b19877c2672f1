import { type CreationOptional, DataTypes, Op, type Sequelize } from 'sequelize';
import type { Output } from '../../../contract/calls.ts';
import type { Authentication } from '../../../contract/rules.ts';
import type { IdentityScope, ResourceScope } from '../../../contract/scopes.ts';
import type { WebsiteRole } from '../../../contract/websites.ts';
import { defineSessions, type Entity, key } from './session-models.ts';

/*
 * The records of the service. The migrations create the tables; a model only describes the columns that it reads and writes. A column
 * with a default in the database is optional here, so that all times come from the clock of the database.
 */

/** The account of an email address. */
export interface User extends Entity<User> {
  id: string;
  email: string;
  name: string | null;
  organisation: CreationOptional<string>;
  brandName: CreationOptional<string>;
  brandLogoUrl: CreationOptional<string>;
  createdAt: CreationOptional<Date>;
}

/** A registered website. */
export interface Website extends Entity<Website> {
  id: string;
  domain: string;
  /** The linked address, which owns the website. Null: `localhost` of local mode, of which every account is a member. */
  email: string | null;
  /** When the linked address first signed in or proved the domain. Null: the website is on probation. */
  claimedAt: CreationOptional<Date | null>;
  provenAt: CreationOptional<Date | null>;
  /** Whether someone registered it who was not signed in. */
  registeredByOthers: CreationOptional<boolean>;
  /** When the website was registered, or moved to its present domain. */
  domainSince: CreationOptional<Date>;
  /** Id of the upload. */
  icon: CreationOptional<string | null>;
  /** Shown beside the host, once the domain is proven; empty: none. */
  name: CreationOptional<string>;
  /** A color as `#rrggbb`; empty: none. */
  accent: CreationOptional<string>;
  /** For the emails; empty: as those of the account. */
  brandName: CreationOptional<string>;
  brandLogoUrl: CreationOptional<string>;
  createdAt: CreationOptional<Date>;
}

/** An address that manages a website beside the linked one, or is invited to. */
export interface WebsiteMember extends Entity<WebsiteMember> {
  websiteId: string;
  email: string;
  role: WebsiteRole;
  /** The owner who sent the newest invitation. */
  invitedBy: string;
  invitedAt: CreationOptional<Date>;
  /** Null: the invitation was not accepted. */
  joinedAt: CreationOptional<Date | null>;
}

/** The last check of the callback of a website. */
interface WebsiteCheck extends Entity<WebsiteCheck> {
  websiteId: string;
  at: CreationOptional<Date>;
  /** The address that was checked. */
  callback: string;
  results: Output<'checkCallback'>['results'];
}

/** The challenge that an address publishes to prove a domain. */
interface DomainClaim extends Entity<DomainClaim> {
  domain: string;
  email: string;
}

/** An OAuth client of a developer. */
export interface Application extends Entity<Application> {
  id: string;
  userId: string;
  name: string;
  clientId: string;
  redirectUris: string[];
  isActive: CreationOptional<boolean>;
  /** Sign-ins and tokens from before this time are void. */
  activeSince: CreationOptional<Date>;
  authentication: CreationOptional<Authentication>;
  /** SHA-256 of the client secret. */
  secretHash: CreationOptional<Buffer | null>;
  previousSecretHash: CreationOptional<Buffer | null>;
  previousSecretUntil: CreationOptional<Date | null>;
  /** Public keys of private_key_jwt (RFC 7517), or their address. */
  jwks: CreationOptional<{ keys: Record<string, unknown>[] } | null>;
  jwksUri: CreationOptional<string | null>;
  logoutUris: CreationOptional<string[]>;
  backchannelLogoutUri: CreationOptional<string | null>;
  /** False for a confidential client whose software cannot send PKCE. */
  pkceRequired: CreationOptional<boolean>;
  scopes: CreationOptional<(IdentityScope | ResourceScope)[]>;
  /** What the `sub` of its people is derived from, besides the address: a host, or its client_id. */
  sector: CreationOptional<string | null>;
  /** A `sub` was derived from the sector, which then never changes. */
  sectorFixed: CreationOptional<boolean>;
  createdAt: CreationOptional<Date>;
}

/** An API key; the key itself is stored as its SHA-256 only. */
export interface ApiKey extends Entity<ApiKey> {
  id: string;
  userId: string;
  name: string;
  environment: 'live' | 'test';
  /** What the key may be used for; null: every scope. */
  scopes: CreationOptional<ResourceScope[] | null>;
  /** The beginning of the key, to show. */
  keyId: string;
  hash: Buffer;
  createdAt: CreationOptional<Date>;
  usedAt: CreationOptional<Date | null>;
  /** Set when the key was rotated. */
  expiresAt: CreationOptional<Date | null>;
  revokedAt: CreationOptional<Date | null>;
}

/** An uploaded icon, or the permission to upload one. */
interface Upload extends Entity<Upload> {
  id: string;
  userId: string | null;
  createdAt: CreationOptional<Date>;
  expiresAt: Date;
  /** Null: the file has not arrived. */
  storedAt: CreationOptional<Date | null>;
}

/** A row of the audit log, which is append-only. */
interface AuditEntry extends Entity<AuditEntry> {
  /** A bigint, as text. */
  id: CreationOptional<string>;
  createdAt: CreationOptional<Date>;
  action: string;
  email: CreationOptional<string | null>;
  domain: CreationOptional<string | null>;
  clientId: CreationOptional<string | null>;
  websiteId: CreationOptional<string | null>;
  applicationId: CreationOptional<string | null>;
  /** Who did it, where that is not the person of `email`. */
  actor: CreationOptional<string | null>;
  /** The name of what it was done to. */
  object: CreationOptional<string | null>;
  device: CreationOptional<string | null>;
  network: CreationOptional<string | null>;
}

/** A passkey of an address (WebAuthn). server/signin/methods/passkey-store.ts writes the columns that only a sign-in reads. */
export interface Passkey extends Entity<Passkey> {
  id: string;
  /** Base64url. */
  credentialId: string;
  email: string;
  userHandle: Buffer;
  backedUp: boolean;
  name: string;
  createdAt: CreationOptional<Date>;
  lastUsedAt: CreationOptional<Date | null>;
}

/** An address on the waitlist of a planned feature. */
interface WaitlistPlace extends Entity<WaitlistPlace> {
  service: 'analytics' | 'bugs';
  email: string;
}

/** The models, with their connection and the operators of conditions. */
export type Orm = ReturnType<typeof defineModels>;

const { ARRAY, BIGINT, BLOB, BOOLEAN, DATE, JSONB, TEXT, UUID } = DataTypes;

/** Defines the models on a connection: of User and its attribute createdAt the table is users and the column created_at. */
export function defineModels(sequelize: Sequelize, isLocal: boolean) {
  const models = { ...defineAccounts(sequelize), ...defineSessions(sequelize), ...defineRecords(sequelize) };
  /** A time by the clock of the database, as an SQL expression. */
  const time = (sql: string) => sequelize.literal(sql) as unknown as Date;
  return { sequelize, isLocal, Op, time, ...models };
}

function defineAccounts(sequelize: Sequelize) {
  const User = sequelize.define<User>('User', {
    id: key(UUID),
    email: TEXT,
    name: TEXT,
    organisation: TEXT,
    brandName: TEXT,
    brandLogoUrl: TEXT,
    createdAt: DATE,
  });
  const AuditEntry = sequelize.define<AuditEntry>(
    'AuditEntry',
    {
      id: { ...key(BIGINT), autoIncrement: true },
      createdAt: { type: DATE, field: 'at' },
      action: TEXT,
      email: TEXT,
      domain: TEXT,
      clientId: TEXT,
      websiteId: UUID,
      applicationId: UUID,
      actor: TEXT,
      object: TEXT,
      device: TEXT,
      network: TEXT,
    },
    { tableName: 'audit_log' },
  );
  const WaitlistPlace = sequelize.define<WaitlistPlace>(
    'WaitlistPlace',
    {
      service: key(TEXT),
      email: key(TEXT),
    },
    { tableName: 'waitlist' },
  );
  const Passkey = sequelize.define<Passkey>('Passkey', {
    id: key(UUID),
    credentialId: TEXT,
    email: TEXT,
    userHandle: BLOB,
    backedUp: BOOLEAN,
    name: TEXT,
    createdAt: DATE,
    lastUsedAt: DATE,
  });
  return { User, AuditEntry, WaitlistPlace, Passkey };
}

function defineRecords(sequelize: Sequelize) {
  const Website = sequelize.define<Website>('Website', {
    id: key(UUID),
    domain: TEXT,
    email: TEXT,
    claimedAt: DATE,
    registeredByOthers: BOOLEAN,
    provenAt: DATE,
    domainSince: DATE,
    icon: UUID,
    name: TEXT,
    accent: TEXT,
    brandName: TEXT,
    brandLogoUrl: TEXT,
    createdAt: DATE,
  });
  const WebsiteMember = sequelize.define<WebsiteMember>('WebsiteMember', {
    websiteId: key(UUID),
    email: key(TEXT),
    role: TEXT,
    invitedBy: TEXT,
    invitedAt: DATE,
    joinedAt: DATE,
  });
  const WebsiteCheck = sequelize.define<WebsiteCheck>('WebsiteCheck', { websiteId: key(UUID), at: DATE, callback: TEXT, results: JSONB });
  const Application = sequelize.define<Application>('Application', {
    id: key(UUID),
    userId: UUID,
    name: TEXT,
    clientId: TEXT,
    redirectUris: ARRAY(TEXT),
    isActive: BOOLEAN,
    activeSince: DATE,
    authentication: TEXT,
    secretHash: BLOB,
    previousSecretHash: BLOB,
    previousSecretUntil: DATE,
    jwks: JSONB,
    jwksUri: TEXT,
    logoutUris: ARRAY(TEXT),
    backchannelLogoutUri: TEXT,
    pkceRequired: BOOLEAN,
    scopes: ARRAY(TEXT),
    sector: TEXT,
    sectorFixed: BOOLEAN,
    createdAt: DATE,
  });
  const ApiKey = sequelize.define<ApiKey>('ApiKey', {
    id: key(UUID),
    userId: UUID,
    name: TEXT,
    environment: TEXT,
    scopes: ARRAY(TEXT),
    keyId: TEXT,
    hash: BLOB,
    createdAt: DATE,
    usedAt: DATE,
    expiresAt: DATE,
    revokedAt: DATE,
  });
  const Upload = sequelize.define<Upload>('Upload', {
    id: key(UUID),
    userId: UUID,
    createdAt: DATE,
    expiresAt: DATE,
    storedAt: DATE,
  });
  const DomainClaim = sequelize.define<DomainClaim>('DomainClaim', { domain: key(TEXT), email: key(TEXT) });
  return { Website, WebsiteMember, WebsiteCheck, DomainClaim, Application, ApiKey, Upload };
}
