import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Adapter, AdapterPayload, ClientMetadata, errors } from 'oidc-provider';
import { deriveKey, type SecretKeys } from '../platform/secrets.ts';
import type { OpenIdClients } from './clients.ts';
import type { RecordColumns, RecordsStore, StoredRecord } from './store.ts';

type Parts = {
  store: RecordsStore;
  clients: OpenIdClients;
  secretKeys: SecretKeys;
  errors: typeof errors;
  /** Returns the request that oidc-provider serves, in whose context the adapter is called. */
  currentRequest(): IncomingMessage | undefined;
  /** Returns since when the client of the request exists, in Unix seconds; undefined: it does not matter. */
  clientSince(): number | undefined;
  /** Returns the SHA-256 of the device cookie of a request, with whose device a session ends. */
  deviceOf(request: IncomingMessage): Buffer | undefined;
};

/**
 * The interaction that a request continues, with its result (see Interactions). A sign-in is never stored as a result, so that what
 * is stored lets no one in.
 */
export const interactionResults = new WeakMap<IncomingMessage, { uid: string; payload: object }>();

/**
 * Fields whose values give access to a record. They are encrypted: those of an interaction with a key derived from its id, which is not
 * stored; those of a device code, which is also found by a user code that is short enough to be guessed, with one of SECRET_KEY.
 */
const SEALED: Record<string, readonly string[]> = {
  Interaction: ['returnTo', 'session', 'deviceCode', 'parJti'],
  DeviceCode: ['jti', 'userCode'],
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns the adapter of oidc-provider: a factory of the storage of each of its models. */
export function createAdapter(parts: Parts): (kind: string) => Adapter {
  return (kind) => (kind === 'Client' ? new ClientsAdapter(kind, parts) : new RecordsAdapter(kind, parts));
}

type Payload = AdapterPayload & Record<string, unknown>;

/** One model of oidc-provider in the table of records. */
class RecordsAdapter implements Adapter {
  readonly kind: string;
  readonly parts: Parts;

  constructor(kind: string, parts: Parts) {
    this.kind = kind;
    this.parts = parts;
  }

  /** @throws InvalidRequest for a NUL character in a parameter, which PostgreSQL cannot hold */
  async upsert(id: string, given: AdapterPayload, seconds?: number): Promise<void> {
    const payload = given as Payload;
    if (JSON.stringify(payload).includes('\\u0000')) throw new this.parts.errors.InvalidRequest('a NUL character is not allowed');
    const request = this.kind === 'Session' ? this.parts.currentRequest() : undefined;
    const device = (request && this.parts.deviceOf(request)) ?? null;
    const stored = this.#seal(id, device ? { ...payload, device: device.toString('hex') } : payload);
    return this.parts.store.upsert(this.kind, id, stored, { ...this.#columnsOf(payload), device }, seconds || null);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const request = this.kind === 'Interaction' ? this.parts.currentRequest() : undefined;
    const continued = request && interactionResults.get(request);
    if (continued?.uid === id) return continued.payload as AdapterPayload;
    const found = await this.parts.store.find(this.kind, id);
    if (!found) return undefined;
    const payload = { ...this.#open(found, id), jti: id };
    // A website that was registered again, perhaps by someone else, gets nothing that was granted to the former one.
    if (this.kind === 'Grant' && (payload.iat ?? 0) < (this.parts.clientSince() ?? 0)) return undefined;
    return payload;
  }

  /** Returns a session without its id, which is the secret of its cookie. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const found = await this.parts.store.find(this.kind, uid, 'uid');
    return found ? this.#open(found) : undefined;
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    for (const key of this.parts.secretKeys.reading) {
      const found = await this.parts.store.find(this.kind, keyedHash(key, userCode), 'user_code');
      if (found) return this.#open(found);
    }
    return undefined;
  }

  /** @throws InvalidGrant when it was consumed before */
  async consume(id: string): Promise<void> {
    if (!(await this.parts.store.consume(this.kind, id))) throw new this.parts.errors.InvalidGrant('already used');
  }

  async destroy(id: string): Promise<void> {
    await this.parts.store.destroy(this.kind, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.parts.store.revokeByGrant(this.kind, grantId);
  }

  #columnsOf(payload: Payload): RecordColumns {
    const text = (value: unknown) => (typeof value === 'string' ? value : null);
    const userCode = text(payload.userCode);
    return {
      email: text(payload.accountId),
      clientId: text(this.kind === 'Client' ? payload.client_id : payload.clientId),
      grantId: text(payload.grantId),
      uid: this.kind === 'Session' ? text(payload.uid) : null,
      userCode: userCode && keyedHash(this.parts.secretKeys.writing, userCode),
    };
  }

  /** Returns what is stored: without the id and the time of consumption, which are columns. */
  #seal(id: string, { consumed, ...payload }: Payload): Record<string, unknown> {
    const names = SEALED[this.kind] ?? [];
    const secret = Object.fromEntries(names.flatMap((name) => (payload[name] === undefined ? [] : [[name, payload[name]]])));
    const rest = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== 'jti' && !names.includes(name)));
    if (names.length === 0) return rest;
    const key = this.kind === 'Interaction' ? Buffer.from(id) : this.parts.secretKeys.writing;
    return { ...rest, sealed: encrypt(deriveKey(key, this.#purpose), JSON.stringify(secret)).toString('base64url') };
  }

  #open({ payload: stored, consumed }: StoredRecord, id = ''): Payload {
    const { sealed, device, ...payload } = stored;
    const opened = typeof sealed === 'string' ? this.#unseal(Buffer.from(sealed, 'base64url'), id) : {};
    return { ...payload, ...opened, ...(consumed !== null && { consumed }) } as Payload;
  }

  #unseal(sealed: Buffer, id: string): Record<string, unknown> {
    const keys = this.kind === 'Interaction' ? [Buffer.from(id)] : this.parts.secretKeys.reading;
    for (const key of keys) {
      const text = decrypt(deriveKey(key, this.#purpose), sealed);
      if (text !== null) return JSON.parse(text);
    }
    return {};
  }

  get #purpose(): string {
    return `record ${this.kind} of OpenID Connect`;
  }
}

/** Returns a hash that does not reveal a short code to someone who can compute many hashes. */
function keyedHash(key: Buffer, userCode: string): string {
  return createHmac('sha256', deriveKey(key, 'user codes')).update(userCode).digest('base64url');
}

function encrypt(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Returns null when it was encrypted with another key. */
function decrypt(key: Buffer, encrypted: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return null;
  }
}

/** Clients: those of the service, and the registered ones in the table. */
class ClientsAdapter extends RecordsAdapter {
  override async find(id: string): Promise<AdapterPayload | undefined> {
    return (await this.parts.clients.findClient(id)) as AdapterPayload | undefined;
  }

  override async upsert(_id: string, metadata: AdapterPayload): Promise<void> {
    await this.parts.clients.addRegistered(metadata as ClientMetadata);
  }
}
