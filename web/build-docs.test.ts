import { expect, test } from 'vitest';
import { docTextOf } from './build-docs.ts';

test('parses headings, links, lists and code, without the title, the description and HTML', () => {
  const text = docTextOf(`# Title

> Description.

<!-- generated -->

Some \`code\` and a [link](https://shop.example/a).

## One & two

3. **first**
4. second

\`\`\`sh
npm start

\`\`\`
`);
  expect(text.sections).toEqual([{ heading: 'One & two', anchor: 'one--two' }]);
  expect(text.parts).toEqual([
    [['p', {}, 'Some ', ['code', {}, 'code'], ' and a ', ['a', { href: 'https://shop.example/a' }, 'link'], '.']],
    [
      ['h2', { id: 'one--two' }, 'One & two'],
      ['ol', { start: 3 }, ['li', {}, ['strong', {}, 'first']], ['li', {}, 'second']],
      ['pre', { label: 'terminal' }, 'npm start\n'],
    ],
  ]);
});

test('counts the columns of a table, leaves out an empty head, and has no empty header cells', () => {
  const [[table, plain]] = docTextOf('| | a |\n|---|---|\n| b | c |\n\n| | |\n|---|---|\n| d | e |\n').parts;
  expect(table).toEqual([
    'table',
    { columns: 2 },
    ['thead', {}, ['tr', {}, ['td', {}], ['th', {}, 'a']]],
    ['tbody', {}, ['tr', {}, ['td', {}, 'b'], ['td', {}, 'c']]],
  ]);
  expect(plain).toEqual(['table', { columns: 2 }, ['tbody', {}, ['tr', {}, ['td', {}, 'd'], ['td', {}, 'e']]]]);
});

test('labels the code of a prompt as one', () => {
  expect(docTextOf('```text\nAdd it.\n```', true).parts).toEqual([[['pre', { label: 'prompt' }, 'Add it.']]]);
});
