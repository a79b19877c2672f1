import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../harness.ts';
import { type Home, openHome } from './command.ts';
import { signInHome } from './sign-in.ts';

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage.close());

const homes: Home[] = [];
const newHome = async () => {
  const home = await openHome(service.url);
  homes.push(home);
  return home;
};
afterAll(() => Promise.all(homes.map((home) => home.close())));

describe('without a terminal', () => {
  test('by the link: kept for its owner alone, and whoami, token and the API know it', async () => {
    const home = await newHome();
    const email = await signInHome(home, stage);
    const directory = join(home.directory, '.config/emailauth');
    const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect([await mode(directory), await mode(join(directory, 'credentials.json'))]).toEqual(['700', '600']);
    const me = await home.run(['whoami', '--json']);
    expect(me.json()).toMatchObject({ email, host: service.url, source: 'credentials' });
  });
});
