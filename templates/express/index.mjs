import express from 'express';
import { auth, page } from './auth.mjs';

const app = express();
app.use(auth);
app.get('/', (_request, response) => response.send(page('<a href="__LOGIN__">Login with Email</a>')));

const port = process.env.PORT ?? __PORT__;
app.listen(port, () => console.log(`Listening at http://localhost:${port}`));
