import { expect, test } from 'vitest';
import { GROUPS, partsOf } from './command-row.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';
import { helpOf } from './help.ts';

const look = { width: 80, heading: (text: string) => text };
const paths = [[], ...Object.keys(FAMILIES).map((family) => [family]), ...commands.map((row) => partsOf(row).name.split(' '))];

test.each(paths.map((path) => [path.join(' ') || 'emailauth', path] as const))('the help of %s fits 80 columns', (_, path) => {
  const lines = helpOf(path, look).split('\n');
  // What is to be copied is not broken.
  expect(lines.filter((line) => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
});

test('the program names every command once, in the order of the groups, before its flags', () => {
  const lines = helpOf([], look).split('\n');
  const heads = lines.filter((line) => /^[A-Z][^:.]+$/.test(line));
  expect(heads).toEqual([...GROUPS, 'Global flags', 'Examples', 'Learn more']);
  const words = lines.slice(0, lines.indexOf('Global flags')).flatMap((line) => /^ {2}([a-z]+) {2}/.exec(line)?.[1] ?? []);
  expect([...words].sort()).toEqual([...new Set(commands.map((row) => row.usage.split(' ')[0]))].sort());
});

test('a flag of its own stands in the place of the global one', () => {
  expect(helpOf(['start'], look).match(/--host/g)).toHaveLength(1);
});

test.each(commands.map((row) => [partsOf(row).name, row] as const))('the row of %s is sound', (name, row) => {
  const flags = [...Object.keys(GLOBAL_FLAGS), ...Object.keys(row.flags ?? {})].flatMap((flag) => flag.match(/-[\w-]+/g) ?? []);
  const [family, second] = name.split(' ');
  expect(second ? FAMILIES[family] : 'a command of one word').toBeTruthy();
  for (const example of row.examples) {
    expect(example).toMatch(new RegExp(`(^|emailauth )${name}\\b`));
    const typed = /(?:^|emailauth )(login|[a-z].*?)(?= [|>]|\)|$)/.exec(example)?.[1] ?? '';
    if (!example.includes('emailauth ')) for (const flag of typed.match(/(?<= )--[\w-]+/g) ?? []) expect(flags).toContain(flag);
  }
  const places = [
    ...partsOf(row).args.map((arg) => arg.replace(/\W/g, '')),
    ...Object.keys(row.flags ?? {}).map((flag) => flag.split(' ')[0]),
  ];
  for (const choice of Object.keys(row.choices ?? {})) expect(places).toContain(choice);
});
