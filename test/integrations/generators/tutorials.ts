/** The apps of the frameworks' own guides. */

/** https://expressjs.com/en/starter/hello-world.html, as CommonJS or as an ES module. */
export const expressApp = (style: 'require' | 'import') => `${
  style === 'require' ? "const express = require('express')" : "import express from 'express'"
}
const app = express()
const port = 3000

app.get('/', (req, res) => {
  res.send('Hello World!')
})

app.listen(port, () => {
  console.log(\`Example app listening on port \${port}\`)
})
`;

/** The same beside a front end of Vite, whose build it serves. */
export const viteExpressServer = `import express from 'express'

const app = express()
const port = 3000

app.use(express.static('dist'))

app.get('/api/hello', (req, res) => {
  res.json({ message: 'Hello World!' })
})

app.listen(port, () => {
  console.log(\`Example app listening on port \${port}\`)
})
`;

/** https://hono.dev/docs/getting-started/nodejs, with the front end of Vite as static files. */
export const honoServer = `import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'

const app = new Hono()

app.get('/api/hello', (c) => c.json({ message: 'Hello Hono!' }))

app.use('*', serveStatic({ root: './dist' }))

serve({ fetch: app.fetch, port: 3000 }, (info) => {
  console.log(\`Server is running on http://localhost:\${info.port}\`)
})
`;

/** https://vite.dev/config/server-options#server-proxy in the configuration of create-vite. */
export const viteProxy = (name: string, plugin: string) => `import { defineConfig } from 'vite'
import ${name} from '${plugin}'

// https://vite.dev/config/
export default defineConfig({
  plugins: [${name}()],
  server: {
    proxy: {
      '/api': 'http://localhost:3000',
    },
  },
})
`;
