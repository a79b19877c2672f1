import { Counter, Gauge, Histogram } from './instruments.ts';

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
export const outboxMails = new Gauge('emailauth_outbox_mails', 'Emails still to send, of all instances', 'max');
export const outboxOldestSeconds = new Gauge(
  'emailauth_outbox_oldest_seconds',
  'Age of the oldest email still to send, of all instances, without those that a limit postponed; 0 when there is none',
  'max',
);
export const overduePartitions = new Gauge(
  'emailauth_overdue_partitions',
  'Partitions whose rows should have been dropped hours ago, by table',
  'max',
);

export const emailRequests = new Counter('emailauth_sign_in_requests_total', 'Requests for an email by result', ['result']);
export const signIns = new Counter('emailauth_sign_ins_total', 'Tries to sign in by method and result', ['method', 'result']);
export const tokenVerifications = new Counter('emailauth_token_verifications_total', 'Verifications of tokens by result', ['result']);
export const wrongCodes = new Counter('emailauth_wrong_codes_total', 'Wrong six-digit sign-in codes');

export const jobRuns = new Counter('emailauth_job_runs_total', 'Runs of scheduled jobs by result', ['task', 'result']);
export const workers = new Gauge('emailauth_workers', 'Processes that serve requests and are counted here');

export const counters = [responses, emailRequests, signIns, tokenVerifications, wrongCodes, jobRuns];
export const histograms = [requestSeconds, batchRows, batchSeconds, poolWaitSeconds, mailHandoverSeconds, mailDeliverySeconds];
/** Of one process. */
export const gauges = [poolConnections, workers];
/** Of the database, and so the same in all processes. */
export const sharedGauges = [outboxMails, outboxOldestSeconds, overduePartitions];
