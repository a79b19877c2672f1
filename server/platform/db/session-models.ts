import {
  type CreationOptional,
  type DataType,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  type Model,
  type Sequelize,
} from 'sequelize';

/** A model with its attributes, all of which have to be given for a new record unless they are CreationOptional. */
export type Entity<M extends Model> = Model<InferAttributes<M>, InferCreationAttributes<M>>;

/** Returns the definition of an attribute of the primary key. */
export const key = (type: DataType) => ({ type, primaryKey: true });

/** An open session of the admin pages. */
export interface AdminSession extends Entity<AdminSession> {
  hash: Buffer;
  seenAt: CreationOptional<Date>;
  expiresAt: Date;
}

/** A session of a developer, or with a `clientId` the token of an application. */
export interface Session extends Entity<Session> {
  hash: Buffer;
  userId: string;
  device: Buffer | null;
  label: string | null;
  clientId: string | null;
  createdAt: CreationOptional<Date>;
  seenAt: CreationOptional<Date>;
  expiresAt: Date;
}

/** The key of a remembered account in one browser. An empty verifier: the key is void, and the limits still know the device. */
export interface RememberedKey extends Entity<RememberedKey> {
  selector: Buffer;
  device: Buffer;
  label: string | null;
  email: string;
  verifier: Buffer;
  previousVerifier: Buffer | null;
  usedAt: CreationOptional<Date>;
  expiresAt: Date;
}

/** A sign-in token. Without a domain it is for the portal. */
export interface Token extends Entity<Token> {
  hash: Buffer;
  domain: string | null;
  email: string;
  usedAt: CreationOptional<Date | null>;
}

const { BLOB, DATE, TEXT, UUID } = DataTypes;

/** Defines the models of sessions, remembered accounts and tokens. */
export function defineSessions(sequelize: Sequelize) {
  const Session = sequelize.define<Session>('Session', {
    hash: key(BLOB),
    userId: UUID,
    device: BLOB,
    label: TEXT,
    clientId: TEXT,
    createdAt: DATE,
    seenAt: DATE,
    expiresAt: DATE,
  });
  const RememberedKey = sequelize.define<RememberedKey>('RememberedKey', {
    selector: BLOB,
    device: key(BLOB),
    label: TEXT,
    email: key(TEXT),
    verifier: BLOB,
    previousVerifier: BLOB,
    usedAt: DATE,
    expiresAt: DATE,
  });
  const Token = sequelize.define<Token>('Token', {
    hash: key(BLOB),
    domain: TEXT,
    email: TEXT,
    usedAt: DATE,
  });
  const AdminSession = sequelize.define<AdminSession>('AdminSession', {
    hash: key(BLOB),
    seenAt: DATE,
    expiresAt: DATE,
  });
  return { AdminSession, Session, RememberedKey, Token };
}
