import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { additionTo, complete, valueIn } from './env-file.ts';

const wanted = [
  { name: 'SESSION_SECRET', value: () => 'made' },
  { name: 'SITE_URL', value: 'https://shop.example' },
];
const both = 'SESSION_SECRET=made\nSITE_URL=https://shop.example\n';

describe('completing a .env file', () => {
  test.each<[string, string, string]>([
    ['no file', '', both],
    ['other lines', 'A=1\n# SITE_URL=https://old.example\n', both],
    ['no newline at the end', 'A=1', `\n${both}`],
    ['line ends of Windows', 'A=1\r\nB=2\r\n', both.replaceAll('\n', '\r\n')],
    ['the same, without the last one', 'A=1\r\nB=2', `\r\n${both.replaceAll('\n', '\r\n')}`],
    ['one of them', 'SITE_URL=https://shop.example\n', 'SESSION_SECRET=made\n'],
    ['exported', 'export SESSION_SECRET=x\n  SITE_URL = "https://shop.example" # here\n', ''],
    ['in single quotes', "SESSION_SECRET='a # b'\nSITE_URL='https://shop.example'\n", ''],
    ['set to nothing', 'SESSION_SECRET=\nSITE_URL=""\n', both],
    ['a name that only ends so', 'MY_SITE_URL=x\nSESSION_SECRET_OLD=y\n', both],
    ['lines of another value', 'KEY="-----BEGIN\nSITE_URL=no\nSESSION_SECRET=no\n-----END"\n', both],
    ['a byte order mark', '\uFEFFSESSION_SECRET=x\nSITE_URL=https://shop.example\n', ''],
  ])('%s', (_, text, addition) => {
    const completion = complete(text, wanted);
    expect(completion.addition).toBe(addition);
    const after = text + addition;
    // Nothing that was set is set to something else, and nothing is missing any more.
    for (const [name, value] of Object.entries(parseEnv(text))) if (value) expect(parseEnv(after)[name]).toBe(value);
    for (const { name } of wanted) expect(valueIn(after, name)).not.toBe('');
    expect(complete(after, wanted).addition).toBe('');
  });

  test('a secret is generated only when it is missing', () => {
    const secret = () => {
      throw new Error('made');
    };
    expect(complete('S=x\n', [{ name: 'S', value: secret }]).text).toBe('S=x\n');
  });

  test('another value is reported, and stays', () => {
    const text = 'SESSION_SECRET=x\nSITE_URL=http://localhost:5000\n';
    expect(complete(text, wanted)).toEqual({ text, addition: '', replaced: [], different: ['SITE_URL'] });
  });

  test.each<[string, string, string]>([
    ['in place', 'A=1\nSITE_URL=http://old\nB=2', 'A=1\nSITE_URL=new\nB=2'],
    ['with `export` and the line ends of Windows', 'export SITE_URL = "x" # here\r\nB=2\r\n', 'export SITE_URL =new\r\nB=2\r\n'],
    ['in the last line that sets it', 'SITE_URL=a\nSITE_URL=b\n', 'SITE_URL=a\nSITE_URL=new\n'],
  ])('a value is replaced %s', (_, text, expected) => {
    const completion = complete(text, [{ name: 'SITE_URL', value: 'new', replaces: true }]);
    expect(completion).toMatchObject({ text: expected, different: [] });
    expect(completion.replaced).toHaveLength(1);
  });

  test('a value over several lines is not replaced', () => {
    const text = 'KEY="a\nSITE_URL=b\n"\nSITE_URL="c\nd"\n';
    expect(complete(text, [{ name: 'SITE_URL', value: 'new', replaces: true }])).toMatchObject({ text, different: ['SITE_URL'] });
  });

  test('a replacement changes no other variable, whatever the file has', () => {
    const line = fc.constantFrom('A=1', 'S=2', 'export S="3"', '', 'B="x\nS=0\ny"', "S='5'", ' S = 6 # note', 'MY_S=7', 'S=');
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const text = lines.join(end);
        const { text: after, different } = complete(text, [{ name: 'S', value: 'new', replaces: true }]);
        const { S: _, ...others } = parseEnv(text);
        const { S: value, ...othersAfter } = parseEnv(after);
        expect(othersAfter).toEqual(others);
        expect(value).toBe(different.length > 0 ? parseEnv(text).S : 'new');
      }),
    );
  });
});

test('no lines, no addition', () => expect(additionTo('A', [])).toBe(''));
