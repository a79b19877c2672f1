import Fastify from 'fastify';
import { auth, page } from './auth.mjs';

const app = Fastify();
app.register(auth);
app.get('/', async (_request, reply) => reply.type('text/html').send(page('<a href="__LOGIN__">Login with Email</a>')));

const port = Number(process.env.PORT ?? __PORT__);
await app.listen({ port });
console.log(`Listening at http://localhost:${port}`);
