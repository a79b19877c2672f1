// Only for the test: serves the page, which a bundler and any web server would do.
import express from 'express';

const app = express();
app.get('/settings.js', (_request, response) => response.type('js').send(`const settings = { issuer: '${process.env.ISSUER}' };`));
app.use('/node_modules', express.static('../node_modules'));
app.use(express.static('.'));
app.listen(process.env.PORT);
