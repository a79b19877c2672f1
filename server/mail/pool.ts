import type { SendResult } from './mail.ts';

/** A connection to the mail server. It carries one message at a time and is kept open between them. */
export type Connection<Message> = {
  /** Rejects for an error on this side: the message could not be made. */
  send(message: Message): Promise<SendResult>;
  /** Closes it; with `politely` it sends QUIT first. */
  close(politely: boolean): void;
};

/** Begins to open a connection. Either `ready` and later `ended` is called, or `ended` alone; each once. */
export type Connect<Message> = (events: { ready(): void; ended(reason: string): void }) => Connection<Message>;

type QueuedMessage<Message> = { message: Message; since: number; startBy: number; done(result: SendResult): void };
type PooledConnection<Message> = {
  state: 'opening' | 'idle' | 'busy';
  /** When it entered the state. */
  since: number;
  connection: Connection<Message>;
  current: QueuedMessage<Message> | null;
};

/** Connections in the ordinary case. */
const USUAL_CONNECTIONS = 4;
/** Connections when messages hang or the server is slow. */
const MAX_CONNECTIONS = 64;
const MAX_QUEUED = 5_000;
/** For opening a connection, and for the reply to a message. */
export const TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;
/** A message that takes longer does not count as a connection in use: it may hang, and others must not wait for it. */
const SLOW_MS = 1_000;
/** A wait that lets the pool grow. */
const LONG_WAIT_MS = 500;
/** After a refused connection while others work: the server does not accept more of them. */
const PAUSE_MS = 5_000;
const TICK_MS = 250;
const NO_REPLY = 'The mail server did not reply in time';

const NOT_YET: Connection<never> = { send: () => Promise.resolve('not_tried'), close: () => {} };

/**
 * A connection pool with a queue. A message goes to an open connection at once; one that hangs delays no other. When no connection
 * can be opened and none is open, all queued messages end as `temporary` with `connection`.
 */
export class Pool<Message> {
  readonly #connect: Connect<Message>;
  readonly #connections = new Set<PooledConnection<Message>>();
  readonly #idle: PooledConnection<Message>[] = [];
  readonly #queue: QueuedMessage<Message>[] = [];
  #extra = 0;
  #pauseUntil = 0;
  #ticking: NodeJS.Timeout | null = null;
  /** Set by `close`; called when the last connection has ended. */
  #closed: (() => void) | null = null;

  constructor(connect: Connect<Message>) {
    this.#connect = connect;
  }

  /** @param startBy when sending must have begun, on the clock of performance.now(); after it the result is `not_tried` */
  send(message: Message, startBy: number): Promise<SendResult> {
    if (this.#closed || this.#queue.length >= MAX_QUEUED) return Promise.resolve('not_tried');
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return new Promise((done) => {
      this.#queue.push({ message, since: performance.now(), startBy, done });
      this.#dispatch();
    });
  }

  /** Returns the number of messages that wait for a connection. */
  waiting(): number {
    return this.#queue.length;
  }

  /** Finishes the messages being sent and closes the connections. Queued messages are not tried. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = () => {
        this.#stopTicking();
        resolve();
      };
      for (const queued of this.#queue.splice(0)) queued.done('not_tried');
      for (const pooled of [...this.#connections]) if (pooled.state !== 'busy') this.#drop(pooled, pooled.state === 'idle');
      this.#checkClosed();
    });
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      const queued = this.#queue.shift() as QueuedMessage<Message>;
      if (queued.startBy < performance.now()) queued.done('not_tried');
      else this.#send(this.#idle.pop() as PooledConnection<Message>, queued);
    }
    if (this.#queue.length > 0) this.#grow();
  }

  #send(pooled: PooledConnection<Message>, queued: QueuedMessage<Message>): void {
    pooled.state = 'busy';
    pooled.since = performance.now();
    pooled.current = queued;
    pooled.connection.send(queued.message).then(
      (result) => this.#finish(pooled, queued, result),
      (error) => this.#finish(pooled, queued, { failed: String(error) }),
    );
  }

  #finish(pooled: PooledConnection<Message>, queued: QueuedMessage<Message>, result: SendResult): void {
    if (pooled.current !== queued) return;
    pooled.current = null;
    queued.done(result);
    if (!this.#connections.has(pooled)) this.#checkClosed();
    else if (this.#closed) this.#drop(pooled, true);
    else this.#becomeIdle(pooled);
  }

  #becomeIdle(pooled: PooledConnection<Message>): void {
    pooled.state = 'idle';
    pooled.since = performance.now();
    this.#idle.push(pooled);
    this.#dispatch();
  }

  #grow(): void {
    const now = performance.now();
    if (this.#closed || now < this.#pauseUntil) return;
    let opening = 0;
    let slow = 0;
    for (const { state, since } of this.#connections) {
      if (state === 'opening') opening++;
      else if (state === 'busy' && now - since > SLOW_MS) slow++;
    }
    const free = Math.min(USUAL_CONNECTIONS + slow + this.#extra, MAX_CONNECTIONS) - this.#connections.size;
    for (let needed = Math.min(this.#queue.length - opening, free); needed > 0; needed--) this.#open(now);
  }

  #open(now: number): void {
    const pooled: PooledConnection<Message> = { state: 'opening', since: now, current: null, connection: NOT_YET };
    this.#connections.add(pooled);
    pooled.connection = this.#connect({
      ready: () => {
        if (!this.#connections.has(pooled)) return;
        if (this.#closed) this.#drop(pooled, true);
        else this.#becomeIdle(pooled);
      },
      ended: (reason) => this.#ended(pooled, reason),
    });
  }

  #ended(pooled: PooledConnection<Message>, reason: string): void {
    if (!this.#connections.has(pooled)) return;
    const { state, current } = pooled;
    this.#remove(pooled);
    if (state === 'opening') {
      this.#couldNotOpen(reason);
      return;
    }
    // If the message has a result of its own, the connection reports it before this runs.
    if (current) setImmediate(() => this.#finish(pooled, current, { temporary: reason, connection: false }));
    this.#dispatch();
  }

  #couldNotOpen(reason: string): void {
    for (const { state } of this.#connections) {
      if (state === 'opening') continue;
      this.#pauseUntil = performance.now() + PAUSE_MS;
      return;
    }
    for (const queued of this.#queue.splice(0)) queued.done({ temporary: reason, connection: true });
  }

  #remove(pooled: PooledConnection<Message>): void {
    this.#connections.delete(pooled);
    const index = this.#idle.indexOf(pooled);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#checkClosed();
  }

  #drop(pooled: PooledConnection<Message>, politely: boolean): void {
    this.#remove(pooled);
    pooled.connection.close(politely);
  }

  #tick(): void {
    const now = performance.now();
    for (const pooled of [...this.#connections]) {
      const age = now - pooled.since;
      if (pooled.state === 'idle' && age > IDLE_MS) this.#drop(pooled, true);
      else if (pooled.state === 'busy' && age > TIMEOUT_MS) this.#giveUp(pooled);
      else if (pooled.state === 'opening' && age > TIMEOUT_MS) {
        this.#drop(pooled, false);
        this.#couldNotOpen(NO_REPLY);
      }
    }
    while (this.#queue.length > 0 && this.#queue[0].startBy < now) this.#queue.shift()?.done('not_tried');
    if (this.#queue.length === 0) this.#extra = 0;
    else if (now - this.#queue[0].since > LONG_WAIT_MS) this.#extra++;
    this.#dispatch();
    if (this.#connections.size === 0 && this.#queue.length === 0) this.#stopTicking();
  }

  #giveUp(pooled: PooledConnection<Message>): void {
    const queued = pooled.current;
    this.#drop(pooled, false);
    if (queued) this.#finish(pooled, queued, { temporary: NO_REPLY, connection: false });
  }

  #stopTicking(): void {
    if (this.#ticking) clearInterval(this.#ticking);
    this.#ticking = null;
  }

  #checkClosed(): void {
    if (this.#connections.size === 0) this.#closed?.();
  }
}

/** A circuit breaker: keeps a process from trying every email on a mail server that cannot be reached. */
export class Breaker {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #nextProbe: number | null = null;

  /**
   * @param intervalMs time between two probes while it is open
   * @param now milliseconds of a monotonic clock
   */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  isOpen(): boolean {
    return this.#nextProbe !== null;
  }

  /** Returns whether an email may be tried now: always while closed; while open, one probe in every interval. */
  admits(): boolean {
    if (this.#nextProbe === null) return true;
    if (this.#now() < this.#nextProbe) return false;
    this.#nextProbe = this.#now() + this.#intervalMs;
    return true;
  }

  /** Makes the next probe due, after one that was admitted and not used. */
  releaseProbe(): void {
    if (this.#nextProbe !== null) this.#nextProbe = this.#now();
  }

  /** Opens the breaker: the server could not be reached. Returns whether it was closed. */
  open(): boolean {
    const wasClosed = this.#nextProbe === null;
    this.#nextProbe ??= this.#now() + this.#intervalMs;
    return wasClosed;
  }

  /** Closes the breaker: the server replied, with whatever result. Returns whether it was open. */
  close(): boolean {
    const wasOpen = this.#nextProbe !== null;
    this.#nextProbe = null;
    return wasOpen;
  }
}
