import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');

/** Returns a byte string or a text in CBOR (RFC 8949 §3.1). */
function cbor(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const [major, { length }] = [typeof value === 'string' ? 0x60 : 0x40, bytes];
  const head = length < 24 ? [major | length] : length < 256 ? [major | 24, length] : [major | 25, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** User present and verified; and for a passkey that is synced also eligible for a backup, and backed up. */
export const VERIFIED = 0x05;
export const SYNCED = 0x1d;

/** An authenticator with one ES256 passkey, as WebAuthn describes one. */
export function openAuthenticator({ origin, rpId = 'localhost', flags = VERIFIED }: { origin: string; rpId?: string; flags?: number }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const state = { counter: 0, userHandle: '', flags, origin };
  const counterBytes = () => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(state.counter);
    return bytes;
  };
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: state.origin, crossOrigin: false }));
  const credential = { id: base64url(id), rawId: base64url(id), type: 'public-key' };
  return {
    id: credential.id,
    state,
    create(options: { challenge: string; user: { id: string } }) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      // The COSE key {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
      const cose = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const data = [sha256(rpId), Buffer.from([state.flags | 0x40]), counterBytes(), Buffer.alloc(16), Buffer.from([0, 16]), id, cose];
      const attestation = [Buffer.from([0xa3]), cbor('fmt'), cbor('none'), cbor('attStmt'), Buffer.from([0xa0]), cbor('authData')];
      state.userHandle = options.user.id;
      const attestationObject = base64url(Buffer.concat([...attestation, cbor(Buffer.concat(data))]));
      return {
        ...credential,
        response: { clientDataJSON: base64url(clientData('webauthn.create', options.challenge)), attestationObject },
      };
    },
    get(challenge: string, userHandle = state.userHandle) {
      state.counter += 1;
      const data = clientData('webauthn.get', challenge);
      const authenticatorData = Buffer.concat([sha256(rpId), Buffer.from([state.flags]), counterBytes()]);
      const signature = createSign('sha256')
        .update(Buffer.concat([authenticatorData, sha256(data)]))
        .sign(privateKey);
      const [clientDataJSON, signed] = [base64url(data), base64url(signature)];
      return {
        ...credential,
        response: { clientDataJSON, authenticatorData: base64url(authenticatorData), signature: signed, userHandle },
      };
    },
  };
}
