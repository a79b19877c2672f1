import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit.ts';

export const logout: CommandSpec = {
  usage: 'logout',
  group: 'Sign-in',
  summary: 'end the sign-in and remove it from this machine',
  about: 'When the service cannot be reached, the sign-in is removed from this machine only; it expires at the service.',
  flags: { '--all': 'at every service that this profile is signed in to' },
  examples: ['logout', 'logout --all'],
  json: '{signedOut:[{host,email,ended}]}',
  async run(context, _, { all = false }) {
    const { terminal, env } = context;
    const { endSession } = await import('../api.ts');
    const credentials = await context.credentials();
    const hosts = all ? credentials.hosts() : [await context.host()];
    const signedOut: { host: string; email: string; ended: boolean }[] = [];
    for (const host of hosts) {
      const stored = credentials.storedAt(host);
      if (!stored) continue;
      const ended = await endSession(context, host, stored);
      credentials.remove(host);
      signedOut.push({ host, email: stored.email, ended });
      if (!ended) {
        terminal.note(`${host} could not be reached. The session there expires on ${stored.expiresAt.slice(0, 10)} at the latest;`);
        terminal.note('to end it earlier, sign this device out in the dashboard, under Settings.');
      }
    }
    if (env.EMAILAUTH_TOKEN) terminal.note('EMAILAUTH_TOKEN is set and stays in use: unset it to sign out completely.');
    const lines = signedOut.map(({ host, email }) => `Signed out ${email} at ${host}.`);
    const none = all ? 'You are not signed in at any service.' : `You are not signed in at ${hosts[0]}.`;
    terminal.result({ signedOut }, lines.join('\n') || none);
    return EXIT.ok;
  },
};

export const whoami: CommandSpec = {
  usage: 'whoami',
  needs: 'sign-in',
  group: 'Sign-in',
  summary: 'who is signed in, where, from which source and until when',
  examples: ['whoami', 'whoami --json'],
  json: '{email,host,expiresAt,source}',
  async run({ terminal, signedIn }) {
    const { client, caller, host } = await signedIn();
    // A request to the service, so that a sign-in that has ended is reported.
    const { email } = await client.me({});
    const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
    const origin = expiresAt ? `by \`emailauth login\`, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC` : 'by EMAILAUTH_TOKEN';
    terminal.result({ email, host, expiresAt, source: caller.source }, `${email} at ${host}\n${origin}`);
    return EXIT.ok;
  },
};

export const token: CommandSpec = {
  usage: 'token',
  needs: 'sign-in',
  group: 'Sign-in',
  summary: 'print an access token for scripts',
  about:
    'It gives access to everything in your account. The service is asked whether it still works, so that a script does not get a token that has ended. For long-term use, create an API key in the dashboard.',
  examples: ['token', 'curl -H "Authorization: Bearer $(emailauth token)" https://auth.example.com/api/websites'],
  json: '{token,host,expiresAt,source}',
  async run({ terminal, signedIn }) {
    const { client, caller, host } = await signedIn();
    await client.me({});
    const expiresAt = caller.source === 'credentials' ? caller.expiresAt : null;
    if (terminal.fullScreen) terminal.note('Keep this token secret: it gives access to everything in your account.');
    terminal.result({ token: caller.token, host, expiresAt, source: caller.source }, caller.token);
    return EXIT.ok;
  },
};
