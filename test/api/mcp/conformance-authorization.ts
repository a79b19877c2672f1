import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '../../support/client.ts';
import type { Mailbox } from '../../support/mailbox.ts';
import { completeSignIn, visitUrl } from '../../support/oidc-driver.ts';
import { freshAddress } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';

type Options = { url: string; mailbox: Mailbox; node: string; suite: string; results: string };

/**
 * Runs the suite's scenarios for authorization servers with a client that registers itself, and signs in at the authorization URL that
 * the suite prints, as a person does in a browser.
 * @returns the number of scenarios, and what is wrong with each that did not pass
 */
export async function runAuthorizationScenarios({
  url,
  mailbox,
  node,
  suite,
  results,
}: Options): Promise<{ count: number; wrong: string[] }> {
  const port = await freePort();
  const browser = new Client(url);
  const registered = await browser.post('/oauth/register', {
    client_name: 'Conformance',
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
    token_endpoint_auth_method: 'none',
  });
  const clientId: string = registered.json.client_id;
  const args = ['authorization', '--url', url, '--client-id', clientId, '--resource', `${url}/mcp`, '--port', String(port)];
  const child = spawn(node, [suite, ...args, '--output-dir', results], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const wrong: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    console.log(line);
    if (!line.startsWith(`${url}/oauth/authorize?`)) continue;
    const email = freshAddress();
    await completeSignIn({ mailbox }, browser, await visitUrl(browser, line), email).then(
      (callback) => fetch(callback),
      (error) => {
        wrong.push(`the sign-in: ${error.message}`);
        child.kill();
      },
    );
  }
  await ended;
  const scenarios = readdirSync(results);
  for (const name of scenarios) {
    const checks: { id: string; status: string; errorMessage?: string }[] = JSON.parse(
      readFileSync(join(results, name, 'checks.json'), 'utf8'),
    );
    for (const { id, status, errorMessage } of checks)
      if (!['SUCCESS', 'INFO'].includes(status)) wrong.push(`${id}: ${errorMessage ?? status}`);
  }
  return { count: scenarios.length, wrong };
}
