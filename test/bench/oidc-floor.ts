/**
 * Program of the bench: a bare oidc-provider, as its documentation sets one up. Its adapter on PostgreSQL has one row per model and
 * one statement per call, and its sign-in is that of floor.ts: an emailed link, without rate limits, validation, audit trail or log.
 * With LOGIN=trivial it believes any address at once and sends no email.
 */
import { hash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import nodemailer from 'nodemailer';
import { type Adapter, type AdapterPayload, type ClientMetadata, type JWK, Provider } from 'oidc-provider';
import pg from 'pg';

const INSERT = `insert into attempts (hash, browser, email, uid, expires_at) values ($1, $2, $3, $4, now() + interval '10 minutes')`;
const OPEN = `
update attempts set consumed_at = now() where hash = $1 and browser = $2 and consumed_at is null and expires_at > now()
returning email, uid`;

const secret = () => randomBytes(32).toString('base64url');
const digest = (text: string) => hash('sha256', text, 'buffer');

const port = Number(process.env.PORT);
const issuer = `http://127.0.0.1:${port}`;
const { hostname, port: smtpPort } = new URL(String(process.env.SMTP_URL));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const mailer = nodemailer.createTransport({ host: hostname, port: Number(smtpPort), pool: true, maxMessages: Number.POSITIVE_INFINITY });

/** The adapter of the documentation's example for SQL databases, with prepared statements. */
class RowAdapter implements Adapter {
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number) {
    await pool.query({
      name: 'upsert',
      text: `insert into records (model, id, payload, grant_id, user_code, uid, expires_at)
             values ($1, $2, $3, $4, $5, $6, now() + $7::int * interval '1 second')
             on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
               user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`,
      values: [this.#model, id, payload, payload.grantId, payload.userCode, payload.uid, expiresIn],
    });
  }

  find = (id: string) => this.#one('id', id);
  findByUserCode = (userCode: string) => this.#one('user_code', userCode);
  findByUid = (uid: string) => this.#one('uid', uid);

  async #one(column: 'id' | 'uid' | 'user_code', value: string): Promise<AdapterPayload | undefined> {
    const { rows } = await pool.query({
      name: `find by ${column}`,
      text: `select payload, consumed_at from records where model = $1 and ${column} = $2 and (expires_at is null or expires_at > now())`,
      values: [this.#model, value],
    });
    return rows[0] && { ...rows[0].payload, ...(rows[0].consumed_at ? { consumed: true } : {}) };
  }

  async destroy(id: string) {
    await pool.query({ name: 'destroy', text: 'delete from records where model = $1 and id = $2', values: [this.#model, id] });
  }

  async consume(id: string) {
    const text = 'update records set consumed_at = now() where model = $1 and id = $2';
    await pool.query({ name: 'consume', text, values: [this.#model, id] });
  }

  async revokeByGrantId(grantId: string) {
    await pool.query({
      name: 'revoke',
      text: 'delete from records where model = $1 and grant_id = $2',
      values: [this.#model, grantId],
    });
  }
}

/** ID tokens are signed by RS256, as those of the service, which is the default of OpenID Connect. */
const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(privateKey)), kid: 'floor', alg: 'RS256', use: 'sig' } as JWK;
const client: ClientMetadata = {
  client_id: String(process.env.CLIENT_ID),
  redirect_uris: [String(process.env.REDIRECT_URI)],
  token_endpoint_auth_method: 'none',
};

const provider: Provider = new Provider(issuer, {
  adapter: RowAdapter,
  clients: [client],
  jwks: { keys: [jwk] },
  cookies: { keys: [secret()] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  features: { devInteractions: { enabled: false }, resourceIndicators: { enabled: false } },
  routes: { authorization: '/oauth/authorize', token: '/oauth/token', userinfo: '/oauth/userinfo' },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  findAccount: (_context, email) => ({ accountId: email, claims: () => ({ sub: email, email, email_verified: true }) }),
  // Of the documentation: clients of the first party need no consent.
  async loadExistingGrant(context) {
    const { client, session, result } = context.oidc;
    if (!client || !session?.accountId) return undefined;
    const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    if (grantId) return provider.Grant.find(grantId);
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
});

provider.use(async (context, next) => {
  const uid = /^\/interaction\/([\w-]+)\/login$/.exec(context.path)?.[1];
  if (context.method === 'POST' && uid) return login(context, uid, String(context.query.email));
  if (context.path === '/auth/link') return open(context);
  await next();
});

type Context = Parameters<Parameters<Provider['use']>[0]>[0];

async function login(context: Context, uid: string, email: string): Promise<void> {
  if (process.env.LOGIN === 'trivial') {
    await provider.interactionFinished(context.req, context.res, { login: { accountId: email } });
    context.respond = false;
    return;
  }
  const [link, browser] = [secret(), secret()];
  await pool.query({ name: 'insert', text: INSERT, values: [digest(link), digest(browser), email, uid] });
  const url = `${issuer}/auth/link?t=${link}`;
  mailer
    .sendMail({
      from: 'Floor <no-reply@floor.example>',
      to: email,
      subject: 'Sign in',
      text: `Open this link to sign in:\n\n${url}\n\nIt works once, for 10 minutes.`,
      html: `<p>Open this link to sign in:</p><p><a href="${url}">Sign in</a></p><p>It works once, for 10 minutes.</p>`,
    })
    .catch(console.error);
  context.set('Set-Cookie', `attempt=${browser}; HttpOnly; SameSite=Lax; Path=/`);
  context.body = { sent: true };
}

async function open(context: Context): Promise<void> {
  const browser = /attempt=([\w-]+)/.exec(context.get('cookie'))?.[1] ?? '';
  const { rows } = await pool.query({ name: 'open', text: OPEN, values: [digest(String(context.query.t)), digest(browser)] });
  if (rows.length === 0) return;
  const interaction = await provider.Interaction.find(rows[0].uid);
  if (!interaction) return;
  interaction.result = { login: { accountId: rows[0].email } };
  await interaction.persist();
  context.redirect(interaction.returnTo);
}

provider.listen(port, '127.0.0.1');
