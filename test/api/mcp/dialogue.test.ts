// A stage of its own: the dialogue registers shop.example, which other files use.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Home, openHome } from '../../cli/command.ts';
import { expressApp } from '../../integrations/generators/tutorials.ts';
import { startAppIn } from '../../integrations/templates/site.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshAddress, requestEmail } from '../../support/sign-ins.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { type McpClient, succeeding } from './clients.ts';
import { connectHere, startIn } from './stdio.ts';

/** The app before, and the changes that the assistant makes besides the given files. */
const BEFORE = expressApp('require');
const changed = (port: number) =>
  BEFORE.replace("require('express')\n", "require('express')\nconst { auth } = require('./auth')\n")
    .replace('express()\n', 'express()\napp.use(auth)\n')
    .replace('const port = 3000', `const port = ${port}`)
    .replace('Hello World!', 'Hello World! <a href="/login">Login with Email</a>');

let stage: Stage;
let service: Service;
let home: Home;
let client: McpClient;
beforeAll(async () => {
  stage = await openStage();
  // Emails stay in the built-in inbox, as with `npm start`.
  service = await stage.start({ SMTP_URL: '' });
  home = await openHome(service.url);
  client = await connectHere(startIn(home));
});
afterAll(async () => {
  await client?.close();
  await home?.close();
  await stage?.close();
});

type Scaffolded = { files: { path: string; contents: string }[]; env: { name: string; value: string }[] };

test('four calls lead to a verified sign-in, as docs/guide/dialogue.md shows', async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const calls: string[] = [];
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { response, text } = await succeeding(client, name, input);
    const shown = (part: string) =>
      part
        .replaceAll(service.url, '{service}')
        .replaceAll(url, '{site}')
        .replaceAll(/http:\/\/localhost:3000\b/g, '{site}')
        .replaceAll(`localhost:${port}`, 'localhost:3000');
    calls.push(`${shown(fenced('json', JSON.stringify(input, null, 2)))}\n\n${shown(fenced('text', text))}`);
    return response;
  };

  await call('get_status');
  await call('register_domain', { domain: 'shop.example', email: 'you@shop.example' });
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-dialogue-'));
  await promisify(execFile)('npm', ['init', '-y'], { cwd: directory });
  const { type = 'commonjs' } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const scaffold = { framework: 'express', domain: 'localhost', moduleSystem: type === 'module' ? 'esm' : type };
  const { files, env } = (await call('scaffold_integration', scaffold)) as Scaffolded;
  const secret = 'x'.repeat(64);
  const settings = env.map(({ name, value }) => `${name}=${name === 'SITE_URL' ? url : value || secret}\n`).join('');
  for (const { path, contents } of files) await writeFile(join(directory, path), contents);
  const around = { 'app.js': changed(port), '.env': settings };
  const recipe = { id: 'express', available: () => true, around, command: [process.execPath, 'app.js'] };
  const app = await startAppIn(directory, recipe, port);
  onTestFinished(() => app.close());
  const { passed } = await call('check_integration', { domain: 'localhost', url: `${url}/auth/callback` });
  expect(passed).toBe(true);

  const [visitor, browser, email] = [app.client(), service.client(), freshAddress()];
  const page = new URL(String((await visitor.get('/login')).headers.location));
  await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
  let link = '';
  await waitUntil('the mail is in the inbox', 30_000, async () => {
    link = (await browser.get(`/dev/inbox/messages.json?to=${email}`)).json[0]?.link ?? '';
    return link !== '';
  });
  const callback = String((await browser.get(link)).headers.location);
  expect((await visitor.get(callback)).headers.location).toBe('/account');
  expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
  expect((await visitor.get(callback)).headers.location).toBe('/login?return_to=%2Faccount');

  await expect(recording(calls)).toMatchFileSnapshot('../../../docs/guide/dialogue.md');
});

/** Returns the text in a fence with more backticks than it contains in a row (CommonMark §4.5). */
function fenced(language: string, text: string): string {
  const most = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(most + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

/** Returns the dialogue with the ports of `npm start`: the service and the app at their own. */
function recording([status, registered, scaffolded, checked]: string[]): string {
  return `# A dialogue

An assistant without previous knowledge of Email Auth adds it to an app. It has the MCP server (\`emailauth mcp install claude-code\`), and the service runs on the same computer (\`npm start\`). A test repeats this dialogue with every version, so the calls and their results are always current.

The app, in a new directory, after \`npm init -y && npm install express\`, is the hello world of the guide of Express:

${fenced('js', BEFORE)}

> **You:** Add email login to this app. Its domain will be shop.example, and my address is you@shop.example.

## 1. get_status

Where is the service, and who is signed in?

${status}

## 2. register_domain

${registered}

## 3. scaffold_integration

For development on this computer; the same call with shop.example returns the settings for production. The module system is that of package.json: npm 11 writes \`"type": "commonjs"\`, and without a type it is the same.

${scaffolded}

The assistant writes \`auth.js\`, and \`.env\` with a SESSION_SECRET from \`openssl rand -hex 32\`. It adds two lines and the link to \`app.js\`:

${fenced('js', changed(3000))}

Then it starts the app: \`node app.js\`.

## 4. check_integration

${checked}

> **Assistant:** Done. Open {site}/login and enter your address; the email is at {service}/dev/inbox. Its link leads to {site}/account.

You open the link, and the page shows: Signed in as you@shop.example. The callback has verified the token with the service. If you open the same URL again, it is rejected.
`
    .replaceAll('{service}', 'http://localhost:4400')
    .replaceAll('{site}', 'http://localhost:3000');
}
