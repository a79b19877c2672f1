import express from 'express';
import { auth, signedInEmail } from './auth.mjs';

const app = express();
app.use(auth);

// For the pages: `(await (await fetch('/api/me')).json()).email` is the signed-in visitor, or null.
app.get('/api/me', (request, response) => response.set('Cache-Control', 'no-store').json({ email: signedInEmail(request) }));

// In production, the pages of `vite build`. In development, Vite has them and sends the other requests here.
app.use(express.static('dist'));
app.use((_request, response) => response.sendFile('index.html', { root: 'dist' }));

app.listen(process.env.PORT ?? 4000);
