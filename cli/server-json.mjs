/**
 * Prints the server.json for the MCP registry with the npm package, for a release: `node cli/server-json.mjs > server.json`, after
 * `npm publish`. mcp/server.json itself has no package: a name on npm that is not claimed yet could be claimed by anyone, whose code
 * clients would then run.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** Returns server.json with the package of this version; the MCP registry compares its name with mcpName of the published package. */
export function releasedServerJson() {
  const { name, mcpName, version } = read('../package.json');
  const { $schema, remotes, ...server } = read('../mcp/server.json');
  const environmentVariables = [
    { name: 'EMAILAUTH_HOST', description: 'Address of the service', format: 'string', default: 'http://localhost:3000' },
    {
      name: 'EMAILAUTH_TOKEN',
      description: 'API key of the dashboard; without it the sign-in of `emailauth login` counts',
      format: 'string',
      isSecret: true,
    },
  ];
  const npmPackage = {
    registryType: 'npm',
    registryBaseUrl: 'https://registry.npmjs.org',
    identifier: name,
    version,
    runtimeHint: 'npx',
    transport: { type: 'stdio' },
    packageArguments: [{ type: 'positional', value: 'mcp' }],
    environmentVariables,
  };
  return { $schema, ...server, name: mcpName, version, packages: [npmPackage], remotes };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(releasedServerJson(), null, 2)}\n`);
}
