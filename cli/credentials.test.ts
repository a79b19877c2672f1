import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCredentials } from './credentials.ts';

const HOST = 'https://auth.example.com';

async function withEnvironment(token: string | undefined, use: (credentials: Awaited<ReturnType<typeof openCredentials>>) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-unit-'));
  try {
    use(await openCredentials('default', { XDG_CONFIG_HOME: directory, EMAILAUTH_TOKEN: token }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test.each(['ea_live_abc', ' ea_live_abc\n'])('EMAILAUTH_TOKEN %j takes precedence over a stored sign-in', (token) =>
  withEnvironment(token, (credentials) => {
    credentials.store(HOST, { email: 'you@example.com', token: 'stored', expiresAt: '2026-12-21T00:00:00Z' });
    expect(credentials.callerAt(HOST)).toEqual({ token: 'ea_live_abc', source: 'EMAILAUTH_TOKEN' });
    expect(credentials.storedAt(HOST)?.token).toBe('stored');
  }),
);

test.each([undefined, '', ' '])('EMAILAUTH_TOKEN %j counts as unset', (token) =>
  withEnvironment(token, (credentials) => {
    expect(credentials.callerAt(HOST)).toBeNull();
    credentials.store(HOST, { email: 'you@example.com', token: 'stored', expiresAt: '2026-12-21T00:00:00Z' });
    expect(credentials.callerAt(HOST)).toMatchObject({ email: 'you@example.com', token: 'stored', source: 'credentials' });
    expect(credentials.callerAt('https://auth.example.org')).toBeNull();
  }),
);

test.each(['a\nb: c', '\x1b[2J', 'ü', 'two words'])('EMAILAUTH_TOKEN %j is refused', (token) =>
  withEnvironment(token, (credentials) => {
    expect(() => credentials.callerAt(HOST)).toThrow('EMAILAUTH_TOKEN is not a valid token.');
  }),
);
