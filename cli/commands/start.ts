import type { CommandSpec } from '../command.ts';

export const start: CommandSpec = {
  usage: 'start',
  group: 'The service',
  summary: 'run the service (what `npm start` does)',
  about: 'Every other setting comes from the environment: see docs/operations.md.',
  flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
  examples: ['start', 'start --port 8080'],
  ownsSignals: true,
  async run({ env }, _, { port, host }) {
    const { runService } = await import('../../server/main.ts');
    return runService({ ...env, ...(port && { PORT: port }), ...(host && { HOST: host }) });
  },
};
