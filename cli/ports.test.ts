import { expect, test } from 'vitest';
import { portInSource, readsPort } from './ports.ts';

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
