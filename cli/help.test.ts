import { expect, test } from 'vitest';
import { GROUPS, partsOf } from './command.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';
import { formatHelp, referenceText } from './help.ts';

const style = { width: 80, heading: (text: string) => text };
const paths = [[], ...Object.keys(FAMILIES).map((family) => [family]), ...commands.map((command) => partsOf(command).name.split(' '))];

test.each(paths.map((path) => [path.join(' ') || 'emailauth', path] as const))('the help of %s fits 80 columns', (_, path) => {
  const lines = formatHelp(path, style).split('\n');
  // Longer is only what is quoted in an example.
  expect(lines.filter((line) => line.length > 80 && !/["']/.test(line))).toEqual([]);
});

test.each(paths.map((path) => [path.join(' ') || 'emailauth', path] as const))('the help of %s splits no word at 40 columns', (_, path) => {
  const lines = formatHelp(path, { ...style, width: 40 }).split('\n');
  // Longer is only what has no space to break at, or is quoted in an example.
  const isOneWord = (line: string) =>
    !line
      .trim()
      .replace(/"[^"]*"|'[^']*'/g, 'x')
      .replace(/ \\$/, '')
      .includes(' ');
  expect(lines.filter((line) => line.length > 40 && !isOneWord(line))).toEqual([]);
});

test('the help of the program lists every command once, by group, before the flags', () => {
  const lines = formatHelp([], style).split('\n');
  const heads = lines.filter((line) => /^[A-Z][^:.]+$/.test(line));
  expect(heads).toEqual([...GROUPS, 'Global flags', 'Examples', 'Learn more']);
  const words = lines.slice(0, lines.indexOf('Global flags')).flatMap((line) => /^ {2}([a-z]+) {2}/.exec(line)?.[1] ?? []);
  expect([...words].sort()).toEqual([...new Set(commands.map((command) => command.usage.split(' ')[0]))].sort());
});

test('a flag of a command replaces the global one', () => {
  expect(formatHelp(['start'], style).match(/--host/g)).toHaveLength(1);
});

test.each(commands.map((command) => [partsOf(command).name, command] as const))('the definition of %s is consistent', (name, command) => {
  const flags = [...Object.keys(GLOBAL_FLAGS), ...Object.keys(command.flags ?? {})].flatMap((flag) => flag.match(/-[\w-]+/g) ?? []);
  const [family, second] = name.split(' ');
  expect(second ? FAMILIES[family] : 'a command of one word').toBeTruthy();
  for (const example of command.examples) {
    expect(example).toMatch(new RegExp(`(^|emailauth )${name}\\b`));
    const typed = /(?:^|emailauth )(login|[a-z].*?)(?= [|>]|\)|$)/.exec(example)?.[1] ?? '';
    if (!example.includes('emailauth ')) for (const flag of typed.match(/(?<= )--[\w-]+/g) ?? []) expect(flags).toContain(flag);
  }
  const places = [
    ...partsOf(command).args.map((arg) => arg.replace(/\W/g, '')),
    ...Object.keys(command.flags ?? {}).map((flag) => flag.split(' ')[0]),
  ];
  for (const choice of Object.keys(command.choices ?? {})) expect(places).toContain(choice);
});

// `npm run docs` is this test with --update.
test('docs/cli.md is up to date', async () => {
  await expect(referenceText(), 'docs/cli.md is out of date: run `npm run docs`').toMatchFileSnapshot('../docs/cli.md');
});
