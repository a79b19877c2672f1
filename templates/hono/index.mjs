import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { html } from 'hono/html';
import { auth, page } from './auth.mjs';

const app = new Hono();
app.route('/', auth);
app.get('/', (c) => c.html(page(html`<a href="__LOGIN__">Login with Email</a>`)));

const port = Number(process.env.PORT ?? __PORT__);
serve({ fetch: app.fetch, port }, () => console.log(`Listening at http://localhost:${port}`));
