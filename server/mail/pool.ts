import type { SendResult } from './mail.ts';

/** The end of a connection before the server got a byte of the message, so that another connection can send it. */
type Lost = { lost: string };

/** A connection to the mail server. It carries one message at a time and is kept open between them. */
export type Connection<Message> = {
  /**
   * Rejects for an error on this side: the message could not be made.
   * @param onData called before the first byte of the message is sent, after which only the server knows whether it has it
   */
  send(message: Message, onData: () => void): Promise<SendResult | Lost>;
  /** Closes it; with `politely` it sends QUIT first. */
  close(politely: boolean): void;
};

/**
 * `ready`: the connection can send. `replied`: the server accepted the connection, or replied. `ended`: it is closed; with `login`,
 * the server does not accept the user name and password.
 */
type Events = { ready(): void; replied(): void; ended(reason: string, login?: boolean): void };

/** Begins to open a connection. Either `ready` and later `ended` is called, or `ended` alone; each once. */
type Connect<Message> = (events: Events) => Connection<Message>;

type QueuedMessage<Message> = {
  message: Message;
  since: number;
  startBy: number;
  /** It was on a connection that ended before the server got a byte of it. */
  moved: boolean;
  done(result: SendResult): void;
};

type State = 'connecting' | 'greeting' | 'idle' | 'envelope' | 'data';

type PooledConnection<Message> = {
  state: State;
  /** When it entered the state; for `data`, when it got its message. */
  since: number;
  /** When it was opened, or the server replied last. */
  repliedAt: number;
  /** It has been idle, so that the server may have closed it in the meantime. */
  reused: boolean;
  connection: Connection<Message>;
  /** The message that it sends; while it opens, the one that it is opened for. */
  current: QueuedMessage<Message> | null;
};

/** Connections in the ordinary case. */
const USUAL_CONNECTIONS = 4;
/** Connections when messages hang or the server is slow, without those that are set aside. */
const MAX_CONNECTIONS = 64;
/** Connections that are set aside because the server takes long. */
const MAX_SET_ASIDE = 500;
const MAX_QUEUED = 5_000;
const MINUTE_MS = 60_000;
/**
 * How long a connection waits for the next reply (RFC 5321 §4.5.3.2): five minutes for greeting, MAIL and RCPT, and for DATA, which
 * the server may get together with RCPT; three for the message and ten for the reply after it. A TCP connection is not a reply.
 */
const TIMEOUTS: Readonly<Record<Exclude<State, 'idle'>, number>> = {
  connecting: 10_000,
  greeting: 5 * MINUTE_MS,
  envelope: 5 * MINUTE_MS,
  data: 13 * MINUTE_MS,
};
/** Longer than any wait for a reply: the pool itself closes connections that hang. */
export const SOCKET_TIMEOUT_MS = 15 * MINUTE_MS;
/** Shorter than the idle timeout of mail servers, which is five minutes (RFC 5321 §4.5.3.2.7). */
const IDLE_MS = 30_000;
/** A connection that was idle and is silent for so long has been lost on the way. */
const STALE_MS = 10_000;
/** A message that takes longer does not count as a connection in use: it may hang, and others must not wait for it. */
const SLOW_MS = 1_000;
/** A connection whose message takes longer is set aside: other messages get another one, however many hang. */
const SET_ASIDE_MS = 3_000;
/** A connection that opens for longer does not keep another one from being tried. */
const SLOW_OPENING_MS = 10_000;
/** A wait that lets the pool grow. */
const LONG_WAIT_MS = 500;
/** After a refused connection while others work: the server does not accept more of them. */
const PAUSE_MS = 5_000;
const TICK_MS = 250;
const NO_REPLY = 'The mail server did not reply in time';

const NOT_YET: Connection<never> = { send: () => Promise.resolve('not_tried'), close: () => {} };

const isOpening = ({ state }: { state: State }) => state === 'connecting' || state === 'greeting';
const isSending = ({ state }: { state: State }) => state === 'envelope' || state === 'data';

/**
 * A connection pool with a queue. A message goes to an open connection at once; one that hangs delays no other. When no connection
 * can be opened and none is open, all queued messages end as `temporary` with `connection`. A message whose connection turns out to
 * be closed is sent once more, at once, on a new one.
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
      this.#queue.push({ message, since: performance.now(), startBy, moved: false, done });
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
      for (const pooled of [...this.#connections]) {
        if (isSending(pooled)) continue;
        pooled.current?.done('not_tried');
        this.#drop(pooled, pooled.state === 'idle');
      }
      this.#checkClosed();
    });
  }

  /** Closes the connections after `close`, without the results of the messages being sent. */
  abandon(): void {
    for (const pooled of [...this.#connections]) {
      pooled.current = null;
      this.#drop(pooled, false);
    }
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
    pooled.state = 'envelope';
    pooled.since = performance.now();
    pooled.repliedAt = pooled.since;
    pooled.current = queued;
    const onData = () => {
      if (pooled.current === queued) pooled.state = 'data';
    };
    pooled.connection.send(queued.message, onData).then(
      (result) => this.#finish(pooled, queued, result),
      (error) => this.#finish(pooled, queued, { failed: String(error) }),
    );
  }

  #finish(pooled: PooledConnection<Message>, queued: QueuedMessage<Message>, result: SendResult | Lost): void {
    if (pooled.current !== queued) return;
    pooled.current = null;
    if (typeof result === 'object' && 'lost' in result) this.#lost(pooled, queued, result.lost);
    else queued.done(result);
    if (!this.#connections.has(pooled)) this.#checkClosed();
    else if (this.#closed || (typeof result === 'object' && 'lost' in result)) this.#drop(pooled, true);
    else this.#becomeIdle(pooled);
  }

  /** Sends a message again at once, on a new connection, if its connection may have been closed before it got the message. */
  #lost({ reused }: PooledConnection<Message>, queued: QueuedMessage<Message>, reason: string): void {
    if (this.#closed) queued.done('not_tried');
    else if (!reused || queued.moved) queued.done({ temporary: reason, connection: false });
    else this.#open(performance.now(), { ...queued, moved: true });
  }

  #becomeIdle(pooled: PooledConnection<Message>): void {
    pooled.state = 'idle';
    pooled.since = performance.now();
    pooled.reused = true;
    this.#idle.push(pooled);
    this.#dispatch();
  }

  #grow(): void {
    const now = performance.now();
    if (this.#closed || now < this.#pauseUntil) return;
    let opening = 0;
    let slowOpening = 0;
    let slow = 0;
    let setAside = 0;
    for (const pooled of this.#connections) {
      const age = now - pooled.since;
      if (isOpening(pooled)) {
        if (pooled.current) continue;
        if (age > SLOW_OPENING_MS) slowOpening++;
        else opening++;
      } else if (isSending(pooled) && age > SET_ASIDE_MS && setAside < MAX_SET_ASIDE) setAside++;
      else if (isSending(pooled) && age > SLOW_MS) slow++;
    }
    const counted = this.#connections.size - setAside - slowOpening;
    const free = Math.min(USUAL_CONNECTIONS + slow + this.#extra, MAX_CONNECTIONS) - counted;
    // A server that does not greet gets one more connection at a time.
    const needed = Math.min(this.#queue.length - opening, free, slowOpening > 0 ? 1 - opening : free);
    for (let n = 0; n < needed; n++) this.#open(now, null);
  }

  /** @param current the message that the connection is opened for; null: the next one of the queue */
  #open(now: number, current: QueuedMessage<Message> | null): void {
    const pooled: PooledConnection<Message> = {
      state: 'connecting',
      since: now,
      repliedAt: now,
      reused: false,
      current,
      connection: NOT_YET,
    };
    this.#connections.add(pooled);
    pooled.connection = this.#connect({
      ready: () => {
        if (!this.#connections.has(pooled)) return;
        if (this.#closed) this.#drop(pooled, true);
        else this.#ready(pooled);
      },
      replied: () => {
        pooled.repliedAt = performance.now();
        if (pooled.state === 'connecting') pooled.state = 'greeting';
      },
      ended: (reason, login) => this.#ended(pooled, reason, login),
    });
  }

  #ready(pooled: PooledConnection<Message>): void {
    const queued = pooled.current ?? this.#queue.shift();
    if (queued && !pooled.current && queued.startBy < performance.now()) {
      queued.done('not_tried');
      this.#ready(pooled);
    } else if (queued) this.#send(pooled, queued);
    else this.#becomeIdle(pooled);
  }

  #ended(pooled: PooledConnection<Message>, reason: string, login = false): void {
    if (!this.#connections.has(pooled)) return;
    const { state, current } = pooled;
    this.#remove(pooled);
    if (isOpening({ state })) {
      this.#couldNotOpen(pooled, reason, login);
      return;
    }
    const result = resultOfEnd(state, reason);
    // If the message has a result of its own, the connection reports it before this runs.
    if (current) setImmediate(() => this.#finish(pooled, current, result));
    this.#dispatch();
  }

  #couldNotOpen(pooled: PooledConnection<Message>, reason: string, login: boolean): void {
    if (pooled.current) this.#queue.unshift(pooled.current);
    const now = performance.now();
    for (const other of this.#connections) {
      // One that hangs does not show that the server still works.
      if (isOpening(other) || (isSending(other) && now - other.since > SET_ASIDE_MS)) continue;
      // After a long wait for its greeting, it says nothing about a new connection.
      if (now - pooled.since < SLOW_OPENING_MS) this.#pauseUntil = now + PAUSE_MS;
      return;
    }
    const result: SendResult = login ? { temporary: reason, connection: true, login } : { temporary: reason, connection: true };
    for (const queued of this.#queue.splice(0)) queued.done(result);
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
      const { state, since, repliedAt, reused } = pooled;
      if (state === 'idle') {
        if (now - since > IDLE_MS) this.#drop(pooled, true);
      } else if (now - repliedAt > TIMEOUTS[state]) this.#giveUp(pooled);
      else if (state === 'envelope' && reused && repliedAt === since && now - since > STALE_MS) this.#giveUp(pooled);
    }
    while (this.#queue.length > 0 && this.#queue[0].startBy < now) this.#queue.shift()?.done('not_tried');
    if (this.#queue.length === 0) this.#extra = 0;
    else if (now - this.#queue[0].since > LONG_WAIT_MS) this.#extra++;
    this.#dispatch();
    if (this.#connections.size === 0 && this.#queue.length === 0) this.#stopTicking();
  }

  #giveUp(pooled: PooledConnection<Message>): void {
    // Its end must not be taken for a result.
    this.#drop(pooled, false);
    if (isOpening(pooled)) this.#couldNotOpen(pooled, NO_REPLY, false);
    else if (pooled.current) this.#finish(pooled, pooled.current, resultOfEnd(pooled.state, NO_REPLY));
  }

  #stopTicking(): void {
    if (this.#ticking) clearInterval(this.#ticking);
    this.#ticking = null;
  }

  #checkClosed(): void {
    if (this.#connections.size === 0) this.#closed?.();
  }
}

/** Returns the result of a message whose connection ended in a state. */
function resultOfEnd(state: State, reason: string): SendResult | Lost {
  return state === 'data' ? { temporary: reason, connection: false, unconfirmed: true } : { lost: reason };
}

/** Why no email can be sent: the server cannot be reached, or it refuses the user name and password. */
export type Failure = 'unreachable' | 'login';

/** Between two probes of a server that cannot be reached. */
const UNREACHABLE_MS = 5_000;
/** Between two logins that are refused: servers block an address, or the account, after several. It doubles up to the longest. */
const LOGIN_MS = MINUTE_MS;
const MAX_LOGIN_MS = 5 * MINUTE_MS;

/** A circuit breaker: keeps a process from trying every email on a mail server to which none can be sent. */
export class Breaker {
  readonly #now: () => number;
  #failure: Failure | null = null;
  #nextProbe = 0;
  /** Probes since it opened. */
  #probes = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isOpen(): boolean {
    return this.#failure !== null;
  }

  /** Returns whether an email may be tried now: always while closed; while open, one probe in every interval. */
  admits(): boolean {
    if (this.#failure === null) return true;
    if (this.#now() < this.#nextProbe) return false;
    this.#probes++;
    this.#nextProbe = this.#now() + this.#intervalMs();
    return true;
  }

  /** Makes the next probe due, after one that was admitted and not used. */
  releaseProbe(): void {
    if (this.#failure === null) return;
    this.#probes = Math.max(0, this.#probes - 1);
    this.#nextProbe = this.#now();
  }

  /** Opens the breaker. Returns whether it was closed, or open for another reason. */
  open(failure: Failure): boolean {
    if (this.#failure === failure) return false;
    this.#failure = failure;
    this.#probes = 0;
    this.#nextProbe = this.#now() + this.#intervalMs();
    return true;
  }

  /** Closes the breaker: the server replied to an email, with whatever result. Returns whether it was open. */
  close(): boolean {
    const wasOpen = this.#failure !== null;
    this.#failure = null;
    return wasOpen;
  }

  #intervalMs(): number {
    return this.#failure === 'login' ? Math.min(LOGIN_MS * 2 ** this.#probes, MAX_LOGIN_MS) : UNREACHABLE_MS;
  }
}
