import { describe, expect, test } from 'vitest';
import { portInSource, readsPort, readsPortAfterImports, replacePort } from './ports.ts';

test.each<[string, number | undefined]>([
  ['const port = 3100\napp.listen(port)', 3100],
  ['const PORT = process.env.PORT || 5050;', 5050],
  ["var port = normalizePort(process.env.PORT || '3000');", 3000],
  ['app.listen(8081, () => {})', 8081],
  ['serve({ fetch: app.fetch, port: 3200 })', 3200],
  ['app.run(debug=True, port=5055)', 5055],
  ['port = int(os.environ.get("PORT", 5056))', 5056],
  ['log.Fatal(http.ListenAndServe(":8088", nil))', 8088],
  ['srv := &http.Server{Addr: ":8089"}', 8089],
  ['r.Run("0.0.0.0:8090")', 8090],
  ['set :port, 4568', 4568],
  ['app.listen(process.env.PORT)', undefined],
  ['setTimeout(stop, 3000)', undefined],
])('finds the port in %j', (text, port) => expect(portInSource(text)).toBe(port));

describe('replaces', () => {
  test.each([
    ['a constant', 'const port = 3000\napp.listen(port)', 'const port = 3001\napp.listen(port)'],
    ['an argument', 'app.listen(3000)', 'app.listen(3001)'],
    ['an option', 'serve({ fetch: app.fetch, port: 3000 }, (info) => {', 'serve({ fetch: app.fetch, port: 3001 }, (info) => {'],
    ['Flask', "if __name__ == '__main__':\n    app.run(port=3000)\n", "if __name__ == '__main__':\n    app.run(port=3001)\n"],
    ['Go', 'http.ListenAndServe(":3000", nil)', 'http.ListenAndServe(":3001", nil)'],
    [
      'the message along with it',
      "app.listen(3000, () => console.log('http://localhost:3000'))\r\n",
      "app.listen(3001, () => console.log('http://localhost:3001'))\r\n",
    ],
    ['no comment', '// 3000 is ours\napp.listen(3000) // not 3000', '// 3000 is ours\napp.listen(3001) // not 3000'],
    ['no other number', 'const port = 3000; const max = 13000 + 3000.5 + 30001', 'const port = 3001; const max = 13000 + 3000.5 + 30001'],
  ])('%s', (_, before, after) => expect(replacePort(before, 3000, 3001)).toBe(after));

  test.each([
    ['a number that is used twice', 'const port = 3000\nsetTimeout(stop, 3000)'],
    ['an address of its own', "const port = 3000\nconst site = 'http://localhost:3000'"],
    ['a number that is no port', 'const pause = 3000'],
    ['a text without it', 'app.listen(4000)'],
  ])('nothing for %s', (_, text) => expect(replacePort(text, 3000, 3001)).toBeNull());
});

test.each([
  ['app.listen(process.env.PORT ?? 3000)', true],
  ['const { HOST, PORT = 3000 } = process.env;', true],
  ["port = int(os.environ.get('PORT', 3000))", true],
  ['port := os.Getenv("PORT")', true],
  ["set :port, ENV.fetch('PORT', 4567)", true],
  ["port = ENV['PORT'] || 4567", true],
  ['const port = process.env.DB_PORT', false],
  ['const PORT = 3000', false],
])('%j reads PORT: %s', (text, expected) => expect(readsPort(text)).toBe(expected));

test('returns whether PORT is read below the imports', () => {
  expect(readsPortAfterImports("const app = require('../app');\nconst port = process.env.PORT;")).toBe(true);
  expect(readsPortAfterImports("const port = process.env.PORT;\nconst app = require('../app');")).toBe(false);
});
