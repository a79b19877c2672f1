import type { CommandSpec } from '../command.ts';
import { importServer } from '../server-package.ts';

export const start: CommandSpec = {
  usage: 'start',
  group: 'The service',
  summary: 'run the service (what `npm start` does)',
  about:
    'Every other setting comes from the environment: see docs/operations.md. The service is the package emailauth-server. If it is not installed beside this program, it is installed with npm into $XDG_DATA_HOME/emailauth after a confirmation, or with --yes; EMAILAUTH_SERVER_PACKAGE is a file or URL to install instead.',
  flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
  examples: ['start', 'start --port 8080', 'start --yes'],
  ownsSignals: true,
  async run(context, _, { port, host }) {
    const { runService } = await importServer(context, 'main');
    return runService({ ...context.env, ...(port && { PORT: port }), ...(host && { HOST: host }) });
  },
};
