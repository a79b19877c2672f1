/**
 * Program of the bench: the minimal sign-in service on the same packages. Bare Express 5, three prepared statements on pg and
 * the pool of nodemailer, without rate limits, input validation, audit trail or log. Its verify-token is one
 * `UPDATE … RETURNING`.
 */
import { hash, randomBytes } from 'node:crypto';
import express from 'express';
import nodemailer from 'nodemailer';
import pg from 'pg';

const INSERT = `insert into attempts (hash, browser, email, forward_url, expires_at) values ($1, $2, $3, $4, now() + interval '10 minutes')`;
const OPEN = `
with consumed as (
  update attempts set consumed_at = now() where hash = $1 and browser = $2 and consumed_at is null and expires_at > now()
  returning email, forward_url
), issued as (
  insert into tokens (hash, email, expires_at) select $3, email, now() + interval '1 hour' from consumed
)
select forward_url from consumed`;
const VERIFY = 'update tokens set used_at = now() where hash = $1 and used_at is null and expires_at > now() returning email';

const secret = () => randomBytes(32).toString('base64url');
const digest = (text: string) => hash('sha256', text, 'buffer');

const port = Number(process.env.PORT);
const { hostname, port: smtpPort } = new URL(String(process.env.SMTP_URL));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const mailer = nodemailer.createTransport({ host: hostname, port: Number(smtpPort), pool: true, maxMessages: Number.POSITIVE_INFINITY });
const app = express();
app.use(express.json());

app.post('/api/auth/domain-auth', async (request, response) => {
  const { email, forward_url } = request.body;
  const [link, browser] = [secret(), secret()];
  await pool.query({ name: 'insert', text: INSERT, values: [digest(link), digest(browser), email, forward_url] });
  const url = `http://127.0.0.1:${port}/auth/link?t=${link}`;
  mailer
    .sendMail({
      from: 'Floor <no-reply@floor.example>',
      to: email,
      subject: 'Sign in',
      text: `Open this link to sign in:\n\n${url}\n\nIt works once, for 10 minutes.`,
      html: `<p>Open this link to sign in:</p><p><a href="${url}">Sign in</a></p><p>It works once, for 10 minutes.</p>`,
    })
    .catch(console.error);
  response.cookie('attempt', browser, { httpOnly: true, sameSite: 'lax' }).json({ sent: true });
});

app.get('/auth/link', async (request, response) => {
  const browser = /attempt=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const token = secret();
  const values = [digest(String(request.query.t)), digest(browser), digest(token)];
  const { rows } = await pool.query({ name: 'open', text: OPEN, values });
  if (rows.length === 0) response.sendStatus(404);
  else response.redirect(303, `${rows[0].forward_url}?token=${token}`);
});

app.get('/api/verify-token', async (request, response) => {
  const { rows } = await pool.query({ name: 'verify', text: VERIFY, values: [digest(String(request.query.token))] });
  response.json(rows.length > 0 ? { email: rows[0].email, valid: true } : { email: null, valid: false });
});

app.listen(port, '127.0.0.1');
