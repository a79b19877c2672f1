import type { AddressInfo } from 'node:net';
import dns2 from 'dns2';

const { Packet } = dns2;

export type NameServer = {
  /** For DNS_SERVERS. */
  address: string;
  /** Sets the TXT records of a name; none: the name does not exist. */
  setText(name: string, values: string[]): void;
  /** Sets the IPv4 addresses of a name. */
  setAddresses(name: string, addresses: string[]): void;
  /** Names asked for, in order. */
  asked: string[];
  close(): Promise<void>;
};

/** Starts a real DNS server on a free UDP port of the loopback. */
export async function openNameServer(): Promise<NameServer> {
  const texts = new Map<string, string[]>();
  const addresses = new Map<string, string[]>();
  const asked: string[] = [];
  const server = dns2.createServer({
    udp: true,
    handle(request, send) {
      const response = Packet.createResponseFromRequest(request);
      const [{ name, type }] = request.questions as unknown as { name: string; type: number }[];
      const key = name.toLowerCase();
      asked.push(key);
      const values = (type === Packet.TYPE.TXT ? texts : type === Packet.TYPE.A ? addresses : undefined)?.get(key) ?? [];
      for (const value of values) {
        const record = { name, type, class: Packet.CLASS.IN, ttl: 1 };
        response.answers.push((type === Packet.TYPE.TXT ? { ...record, data: value } : { ...record, address: value }) as never);
      }
      // RFC 1035 §4.1.1: 3 says that the name does not exist.
      if (!texts.has(key) && !addresses.has(key)) (response.header as { rcode: number }).rcode = 3;
      send(response);
    },
  });
  await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  const { port } = server.addresses().udp as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    setText: (name, values) => set(texts, name, values),
    setAddresses: (name, values) => set(addresses, name, values),
    asked,
    close: async () => void (await server.close()),
  };
}

function set(records: Map<string, string[]>, name: string, values: string[]) {
  if (values.length > 0) records.set(name.toLowerCase(), values);
  else records.delete(name.toLowerCase());
}
