import type { Service } from './harness.ts';

/** The samples of /metrics. */
export type Samples = {
  text: string;
  /** Returns the sum of the samples with this name that have all of the labels. */
  sum(name: string, labels?: Record<string, string>): number;
  /** Returns the names of all samples. */
  names: Set<string>;
};

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;

/** Reads the metrics of a service. @throws Error unless the status is 200 */
export async function readMetrics(service: Service, headers: Record<string, string> = {}): Promise<Samples> {
  const { status, text } = await service.client().get('/metrics', headers);
  if (status !== 200) throw new Error(`/metrics returned ${status}: ${text.slice(0, 300)}`);
  const samples = text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) return [];
    return [
      { name, labels: new Map(Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, key, text]) => [key, text])), value: Number(value) },
    ];
  });
  return {
    text,
    names: new Set(samples.map(({ name }) => name)),
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels.get(key) === text))
        .reduce((total, { value }) => total + value, 0),
  };
}
