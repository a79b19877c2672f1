import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { frameworkOf } from '../../templates/catalog.ts';
import { readSources } from '../../templates/read.ts';
import { render } from '../../templates/render.ts';

/** A way to get an integration wrong: the text of the template that it replaces, or what runs before the template. */
export type Defect = { replace?: [text: RegExp, by: string]; before?: string };

/** Mistakes in an integration, each by what it does. */
export const defects = {
  'checks the state and never verifies the token': {
    replace: [
      /const result = await fetch\(`\$\{AUTH\}\/api\/verify-token[\s\S]*?\.catch\(\(\) => null\);/,
      "const result = { valid: true, email: 'anyone@mail.example' };",
    ],
  },
  'verifies the token without domain': { replace: [/\{ token, domain: SITE\.hostname \}/, '{ token }'] },
  'does not compare the state': { replace: [/ \|\| !token \|\| !state\)[\s\S]*?if \(state !== expected\)/, ')'] },
  'redirects to the address in return_to': {
    before: `app.use((request, response, next) => {
  if (request.query.return_to) response.cookie('back', request.query.return_to, { httpOnly: true, sameSite: 'lax' });
  const back = decodeURIComponent(/(?:^|; )back=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
  const redirect = response.redirect.bind(response);
  response.redirect = (status, url) => redirect(status, request.path === '/auth/callback' && back ? back : url);
  next();
});`,
  },
  'sets its cookies without HttpOnly': { replace: [/httpOnly: true/, 'httpOnly: false'] },
  'signs out on GET': {
    before: "app.get('/logout', (_, response) => response.clearCookie('session').clearCookie('login_session').send('Bye'));",
  },
} satisfies Record<string, Defect>;

/**
 * Creates what `npm init -y`, \`npm install express` and the template make, in a temporary directory.
 * @returns the directory, and a function that removes it
 */
export async function makeExpressApp(defect: Defect = {}): Promise<{ directory: string; remove(): Promise<void> }> {
  const framework = frameworkOf('express');
  if (!framework) throw new Error('There is no template for Express.');
  const values = { origin: 'http://localhost:4400', domain: 'localhost' };
  const [{ contents }] = render(framework, await readSources(framework), values).files;
  const template = defect.replace ? contents.replace(...defect.replace) : contents;
  if (defect.replace && template === contents) throw new Error(`The template has no ${defect.replace[0]}.`);
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'emailauth-express-')));
  const manifest = { name: 'shop', version: '1.0.0', main: 'index.js', type: 'module', dependencies: { express: '^5.0.0' } };
  await writeFile(join(directory, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(directory, 'auth.js'), template);
  await writeFile(
    join(directory, 'index.js'),
    `import express from 'express';
import { auth } from './auth.js';
const app = express();
${defect.before ?? ''}
app.use(auth);
app.get('/', (_, response) => response.send('<a href="/login">Login with Email</a>'));
const port = process.env.PORT ?? 3000;
app.listen(port, () => console.log(\`Example app listening on port \${port}\`));
`,
  );
  await symlink(join(import.meta.dirname, '../../node_modules'), join(directory, 'node_modules'));
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
