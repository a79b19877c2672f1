/** Values of labels by name. They come from code, never from a request, so that their number is bounded. */
export type Labels = Readonly<Record<string, string>>;

/** A value as prom-client writes it. */
type Value = { labels: Record<string, string | number>; value: number; metricName?: string };

/** A metric of one process, as prom-client reads and adds up metrics of several processes. */
export type Report = { name: string; help: string; type: string; aggregator: string; values: Value[] };

/** How the values of several worker processes become one. */
type Aggregator = 'sum' | 'max' | 'first';

/** Counts of one set of labels. */
export type CountSeries = { value: number };

/** A number that only grows, by labels. Callers of frequent events keep the series of their labels. */
export class Counter {
  readonly name: string;
  readonly help: string;
  readonly #labelNames: readonly string[];
  readonly #series = new Map<string, CountSeries & { labels: Labels }>();

  constructor(name: string, help: string, labelNames: readonly string[] = []) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    // Without labels the counter is 0 from the start, so that a rate includes its first event.
    if (labelNames.length === 0) this.with();
  }

  /** Returns the series of these values of the labels. */
  with(...labelValues: string[]): CountSeries {
    return seriesOf(this.#series, this.#labelNames, labelValues, () => ({ value: 0 }));
  }

  /** Adds one to the series of these values of the labels. */
  count(...labelValues: string[]): void {
    this.with(...labelValues).value += 1;
  }

  /** Returns the labels and values of all series. */
  points(): { labels: Labels; value: number }[] {
    return [...this.#series.values()];
  }

  report(): Report {
    const values = this.points().map(({ labels, value }) => ({ labels, value }));
    return { name: this.name, help: this.help, type: 'counter', aggregator: 'sum', values };
  }
}

/** The measurements of one set of labels. */
export class HistogramSeries {
  readonly labels: Labels;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulated; the last one has no upper bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[], labels: Labels) {
    this.#bounds = bounds;
    this.labels = labels;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a measurement. It allocates nothing, because the most frequent calls pass here. */
  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]) bucket++;
    this.counts[bucket] += 1;
    this.sum += value;
  }
}

/** The distribution of measurements, by labels. */
export class Histogram {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, in ascending order. */
  readonly bounds: readonly number[];
  readonly #labelNames: readonly string[];
  readonly #series = new Map<string, HistogramSeries>();

  constructor(name: string, help: string, bounds: readonly number[], labelNames: readonly string[] = []) {
    this.name = name;
    this.help = help;
    this.bounds = bounds;
    this.#labelNames = labelNames;
    if (labelNames.length === 0) this.with();
  }

  /** Returns the series of these values of the labels. */
  with(...labelValues: string[]): HistogramSeries {
    return seriesOf(this.#series, this.#labelNames, labelValues, (labels) => new HistogramSeries(this.bounds, labels));
  }

  points(): HistogramSeries[] {
    return [...this.#series.values()];
  }

  report(): Report {
    const values = this.points().flatMap((series) => this.#valuesOf(series));
    return { name: this.name, help: this.help, type: 'histogram', aggregator: 'sum', values };
  }

  #valuesOf({ labels, counts, sum }: HistogramSeries): Value[] {
    const values: Value[] = [];
    let below = 0;
    counts.forEach((count, bucket) => {
      below += count;
      values.push({ metricName: `${this.name}_bucket`, labels: { ...labels, le: this.bounds[bucket] ?? '+Inf' }, value: below });
    });
    values.push({ metricName: `${this.name}_sum`, labels, value: sum }, { metricName: `${this.name}_count`, labels, value: below });
    return values;
  }
}

/** A value that is read when the metrics are: null while it is not known. */
export class Gauge {
  readonly name: string;
  readonly help: string;
  readonly #aggregator: Aggregator;
  #read: () => Promise<GaugePoint[]> | GaugePoint[] = () => [];

  /** @param aggregator for the values of several worker processes */
  constructor(name: string, help: string, aggregator: Aggregator = 'sum') {
    this.name = name;
    this.help = help;
    this.#aggregator = aggregator;
  }

  /** Sets the function that reads the values. Rejections leave the metric out. */
  readBy(read: () => Promise<GaugePoint[]> | GaugePoint[]): void {
    this.#read = read;
  }

  async points(): Promise<GaugePoint[]> {
    try {
      return await this.#read();
    } catch {
      return [];
    }
  }

  async report(): Promise<Report> {
    const values = (await this.points()).map(({ labels = {}, value }) => ({ labels, value }));
    return { name: this.name, help: this.help, type: 'gauge', aggregator: this.#aggregator, values };
  }
}

export type GaugePoint = { labels?: Labels; value: number };

function seriesOf<Series>(
  all: Map<string, Series & { labels: Labels }>,
  names: readonly string[],
  values: readonly string[],
  create: (labels: Labels) => Series,
): Series {
  const key = values.length === 1 ? values[0] : values.join('\n');
  const found = all.get(key);
  if (found) return found;
  const labels = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  const created = Object.assign(create(labels) as Series & object, { labels });
  all.set(key, created);
  return created;
}
