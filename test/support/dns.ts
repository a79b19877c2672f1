import type { AddressInfo } from 'node:net';
import dns2 from 'dns2';

const { Packet } = dns2;

export type NameServer = {
  /** For DNS_SERVERS. */
  address: string;
  /** Sets the TXT records of a name; an empty list removes them. */
  setText(name: string, values: string[]): void;
  /** Sets the IPv4 addresses of a name. */
  setAddresses(name: string, addresses: string[]): void;
  /** Sets the MX records of a name; an empty server is the null MX of RFC 7505. */
  setMailServers(name: string, servers: string[]): void;
  /** Names of the received queries, in order. */
  queries: string[];
  close(): Promise<void>;
};

/** Starts a DNS server on a free UDP port of the loopback. */
export async function openNameServer(): Promise<NameServer> {
  const texts = new Map<string, string[]>();
  const addresses = new Map<string, string[]>();
  const mailServers = new Map<string, string[]>();
  const kinds = new Map<number, { of: Map<string, string[]>; field(value: string): object }>([
    [Packet.TYPE.TXT, { of: texts, field: (value) => ({ data: value.match(/.{1,255}/gs) ?? [''] }) }],
    [Packet.TYPE.A, { of: addresses, field: (value) => ({ address: value }) }],
    [Packet.TYPE.MX, { of: mailServers, field: (value) => ({ exchange: value, priority: 10 }) }],
  ]);
  const queries: string[] = [];
  const server = dns2.createServer({
    udp: true,
    handle(request, send) {
      const response = Packet.createResponseFromRequest(request);
      const [{ name, type }] = request.questions as unknown as { name: string; type: number }[];
      const key = name.toLowerCase();
      queries.push(key);
      const kind = kinds.get(type);
      for (const value of kind?.of.get(key) ?? []) {
        response.answers.push({ name, type, class: Packet.CLASS.IN, ttl: 1, ...kind?.field(value) } as never);
      }
      // RFC 1035 §4.1.1: 3 means that the name does not exist.
      if (![...kinds.values()].some(({ of }) => of.has(key))) (response.header as { rcode: number }).rcode = 3;
      send(response);
    },
  });
  await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  const { port } = server.addresses().udp as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    setText: (name, values) => set(texts, name, values),
    setAddresses: (name, values) => set(addresses, name, values),
    setMailServers: (name, values) => set(mailServers, name, values),
    queries,
    close: async () => void (await server.close()),
  };
}

function set(records: Map<string, string[]>, name: string, values: string[]) {
  if (values.length > 0) records.set(name.toLowerCase(), values);
  else records.delete(name.toLowerCase());
}
