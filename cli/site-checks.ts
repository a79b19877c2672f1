import type { Client } from '../contract/client.ts';
import type { CheckSite } from '../mcp/server.ts';

/**
 * How an MCP server on this machine looks at sites: at those of whoever is signed in, on the public internet, and at localhost.
 * @param parts.env DNS_SERVERS as for `emailauth doctor`
 */
export async function openCheckSite(parts: { client: Client; host: string; env: Record<string, string | undefined> }): Promise<CheckSite> {
  const [{ createCheckSite }, { openPublicNames }] = await Promise.all([
    import('../diagnostics/website/check-site.ts'),
    import('../server/websites/public-names.ts'),
  ]);
  const servers = parts.env.DNS_SERVERS?.trim();
  const dnsServers = servers ? servers.split(',').map((server) => server.trim()) : null;
  return createCheckSite({
    client: parts.client,
    service: parts.host,
    names: openPublicNames({ dnsServers, thisMachine: true }),
    from: 'own-machine',
  });
}
