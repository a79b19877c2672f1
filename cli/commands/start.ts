import type { CommandSpec } from '../command.ts';
import { importServer } from '../server-package.ts';

export const start: CommandSpec = {
  usage: 'start',
  group: 'The service',
  summary: 'run the service (what `npm start` does)',
  about: 'Every other setting comes from the environment: see docs/operations.md.',
  flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
  examples: ['start', 'start --port 8080'],
  ownsSignals: true,
  async run(context, _, { port, host }) {
    const { runService } = await importServer(context, 'main');
    return runService({ ...context.env, ...(port && { PORT: port }), ...(host && { HOST: host }) });
  },
};
