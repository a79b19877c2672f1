import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { findManaged } from './managers.ts';

type Parts = {
  database: Pick<Database, 'orm'>;
  verifyTest(query: { token: string; domain: string }): Promise<Output<'verifyToken'>>;
};

/** Sign-ins by which those who manage a website test it: their token comes back to the portal instead of the website. */
export class TestSignIns {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns what verify-token would tell the website, once for each token. @throws Fault website_not_found */
  async verify({ email }: Account, { id, token }: Parsed<'verifyTestToken'>): Promise<Output<'verifyTestToken'>> {
    const { database, verifyTest } = this.#parts;
    const { website } = await findManaged(await database.orm(), email, id);
    return verifyTest({ token, domain: website.domain });
  }
}

export function testSignInRoutes(tests: TestSignIns): Served[] {
  return [serve('verifyTestToken', (input, { account }) => tests.verify(account, input))];
}
