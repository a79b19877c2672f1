import { stripVTControlCharacters } from 'node:util';
import { SECRET_GRACE_HOURS } from '../../contract/applications.ts';
import { minuteOf, requireApp } from '../apps.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { requireConfirmation } from '../prompts.ts';
import { wrap } from '../text.ts';

export const appsRotateSecret: CommandSpec = {
  usage: 'apps rotate-secret <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'replace the client secret of an application and print the new one, once',
  about:
    'Only the secret goes to stdout, so that a file or a secret store can take it. The former one works for some hours more. With --grace 0 every former secret ends at once: you confirm that, or pass --yes.',
  choices: { '--grace': SECRET_GRACE_HOURS.map(String) },
  flags: { '--grace <hours>': `how long the former secret still works: ${SECRET_GRACE_HOURS.join(', ')}; 24 by default` },
  examples: ['apps rotate-secret Grafana > secret.txt', 'apps rotate-secret Grafana --grace 0 --yes'],
  json: '{clientId,clientSecret,formerSecretUntil}',
  exits: { 6: 'the secret was rotated already, and the former one is still valid' },
  async run({ terminal, signedIn }, [given = ''], { grace = '24' }) {
    const graceHours = SECRET_GRACE_HOURS.find((hours) => String(hours) === grace);
    if (graceHours === undefined) throw usageError(`--grace cannot be "${grace}".`, `It is one of ${SECRET_GRACE_HOURS.join(', ')}.`);
    const { client } = await signedIn();
    const { id, name } = await requireApp(client, given);
    if (graceHours === 0) await requireConfirmation(terminal, `The client secret of ${name} stops working immediately. Replace it?`);
    const { clientId, clientSecret = '', formerSecretUntil } = await client.rotateClientSecret({ id, graceHours });
    const former = formerSecretUntil ? `The former one is valid until ${minuteOf(formerSecretUntil)} UTC.` : 'The former one has ended.';
    terminal.note(`The new client secret of ${name} is shown only this once: store it now. ${former}`);
    terminal.result({ clientId, clientSecret, formerSecretUntil }, clientSecret);
    return EXIT.ok;
  },
};

export const appsRefusals: CommandSpec = {
  usage: 'apps refusals <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the last requests of an application that were rejected, and what to change',
  examples: ['apps refusals Notes', "apps refusals Notes --json | jq -r '.[0].remedy'"],
  json: '[{id,createdAt,error,description,remedy}]',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, name } = await requireApp(client, given);
    const refusals = await client.clientRefusals({ id });
    const blocks = refusals.map(({ createdAt, error, description, remedy }) => {
      const lines = [stripVTControlCharacters(description), remedy]
        .flatMap((text) => wrap(text, terminal.columns - 2))
        .map((line) => `  ${line}`);
      return [`${terminal.style('dim', minuteOf(createdAt))}  ${terminal.style('red', stripVTControlCharacters(error))}`, ...lines].join(
        '\n',
      );
    });
    terminal.result(refusals, blocks.join('\n'));
    if (refusals.length === 0) terminal.note(`No request of ${name} was rejected.`);
    return EXIT.ok;
  },
};

export const appsTest: CommandSpec = {
  usage: 'apps test <app> [redirect-uri]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'check a redirect URI of an application and print the address that tests it in a browser',
  about: 'Without a redirect URI the first one of the application is tested. The code of the test sign-in cannot be exchanged.',
  examples: ['apps test Notes', 'apps test Notes https://notes.example/callback --json'],
  json: '{url,checks:[{id,name,ok,detail,fix}]}',
  exits: { 10: 'the redirect URI cannot be used' },
  async run({ terminal, signedIn }, [given = '', redirectUri]) {
    const { client } = await signedIn();
    const { id, redirectUris } = await requireApp(client, given);
    const { url, checks } = await client.testClient({ id, redirectUri: redirectUri ?? redirectUris[0] });
    const lines = checks.map(({ name, ok, detail, fix }) => {
      const sign = ok ? terminal.style('green', '✓') : ok === null ? terminal.style('dim', '-') : terminal.style('red', '✗');
      return `${sign} ${name}: ${detail}${fix ? `\n  ${fix}` : ''}`;
    });
    terminal.result({ url, checks }, [...lines, ...(url ? ['', url] : [])].join('\n'));
    return checks.some(({ ok }) => ok === false) ? EXIT.negative : EXIT.ok;
  },
};
