import { anyEntered } from '../../../contract/entered.ts';
import { Fault } from '../../../contract/errors.ts';

/** Values of labels by name. They come from code, never from a request, so that their number is bounded. */
type Labels = Readonly<Record<string, string>>;

/** A value as prom-client writes it. */
type Value = { labels: Record<string, string | number>; value: number; metricName?: string };

/** A metric of one process, as prom-client reads and adds up metrics of several processes. */
export type Report = { name: string; help: string; type: string; aggregator: string; values: Value[] };

/** Counts of one set of labels. */
type CountSeries = { value: number };

/** A number that only grows, by labels. Callers of frequent events keep the series of their labels. */
class Counter {
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

  report(): Report {
    const values = [...this.#series.values()].map(({ labels, value }) => ({ labels, value }));
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
class Histogram {
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

  report(): Report {
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
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

/** A value that is read together with the metrics. When the reading fails, the metric is left out. */
class Gauge {
  readonly name: string;
  readonly help: string;
  #read: () => Promise<GaugePoint[]> | GaugePoint[] = () => [];

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  /** Sets the function that reads the values. Rejections leave the metric out. */
  readBy(read: () => Promise<GaugePoint[]> | GaugePoint[]): void {
    this.#read = read;
  }

  async report(): Promise<Report> {
    let points: GaugePoint[] = [];
    try {
      points = await this.#read();
    } catch {
      // The metric is left out.
    }
    const values = points.map(({ labels = {}, value }) => ({ labels, value }));
    return { name: this.name, help: this.help, type: 'gauge', aggregator: 'sum', values };
  }
}

type GaugePoint = { labels?: Labels; value: number };

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

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Greylisting and an outage of the mail server delay an email by minutes. */
const DELIVERY_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const ROWS = [1, 2, 4, 8, 16, 32, 64];

// No label contains an address, a domain, a token or anything else that a request chooses: docs/operations.md lists all of them.

export const requestSeconds = new Histogram(
  'emailauth_http_request_duration_seconds',
  'Time from the arrival of a request to the end of its response, by method, route and status class',
  SECONDS,
  ['method', 'route', 'status'],
);
export const responses = new Counter('emailauth_http_answers_total', 'Responses by status', ['status']);

export const batchRows = new Histogram('emailauth_batch_rows', 'Rows in one statement that several requests share', ROWS, ['batch']);
export const batchSeconds = new Histogram(
  'emailauth_batch_duration_seconds',
  'Time of one statement that several requests share',
  SECONDS,
  ['batch'],
);
export const poolWaitSeconds = new Histogram('emailauth_pool_wait_seconds', 'Wait for a connection of a pool to the database', SECONDS, [
  'pool',
]);
export const poolConnections = new Gauge('emailauth_pool_connections', 'Connections to the database, and statements that wait for one');

export const mailHandoverSeconds = new Histogram(
  'emailauth_mail_handover_duration_seconds',
  'Time of one try to hand an email over to the mail server, with the wait for a connection, by result',
  SECONDS,
  ['result'],
);
export const mailDeliverySeconds = new Histogram(
  'emailauth_mail_delivery_seconds',
  'Time from the request for an email to its acceptance by the mail server, by kind',
  DELIVERY_SECONDS,
  ['kind'],
);
export const outboxMails = new Gauge('emailauth_outbox_mails', 'Emails still to send, of all instances');
export const outboxOldestSeconds = new Gauge(
  'emailauth_outbox_oldest_seconds',
  'Age of the oldest email still to send, of all instances, without those that a limit postponed; 0 when there is none',
);
export const overduePartitions = new Gauge(
  'emailauth_overdue_partitions',
  'Partitions whose rows should have been dropped hours ago, by table',
);

export const emailRequests = new Counter('emailauth_sign_in_requests_total', 'Requests for an email by result', ['result']);
export const signIns = new Counter('emailauth_sign_ins_total', 'Tries to sign in by method and result', ['method', 'result']);
export const tokenVerifications = new Counter('emailauth_token_verifications_total', 'Verifications of tokens by result', ['result']);
export const wrongCodes = new Counter('emailauth_wrong_codes_total', `Wrong ${anyEntered('adjective')} sign-in codes`);

export const emailVerifications = new Counter(
  'emailauth_email_verifications_total',
  'Tokens of the Email Verification Protocol by result: verified, or why an email was sent instead',
  ['result'],
);

export const jobRuns = new Counter('emailauth_job_runs_total', 'Runs of scheduled jobs by result', ['task', 'result']);
export const workers = new Gauge('emailauth_workers', 'Processes that serve requests and are counted here');

export const counters = [responses, emailRequests, signIns, tokenVerifications, wrongCodes, emailVerifications, jobRuns];
export const histograms = [requestSeconds, batchRows, batchSeconds, poolWaitSeconds, mailHandoverSeconds, mailDeliverySeconds];
/** Of one process. */
export const gauges = [poolConnections, workers];
/** Of the database, and so the same in all processes. */
export const sharedGauges = [outboxMails, outboxOldestSeconds, overduePartitions];

/** Counts a try to sign in by its result: `signed_in`, the code of its error, or `unavailable`. */
export async function countSignIn<Result>(method: string, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    signIns.count(method, 'signed_in');
    return result;
  } catch (error) {
    signIns.count(method, error instanceof Fault ? error.code : 'unavailable');
    throw error;
  }
}
