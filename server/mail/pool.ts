import type { Outcome } from './mail.ts';

/** One connection to the mail server. It carries one message at a time and is kept open between them. */
export type Connection<Message> = {
  /** Rejects for a fault of this side's own: the message could not be made. */
  send(message: Message): Promise<Outcome>;
  /** Ends it; `politely` says goodbye first. */
  close(politely: boolean): void;
};

/** Begins to open a connection. Either `ready` and later `ended` is called, or `ended` alone; each once. */
export type Connect<Message> = (events: { ready(): void; ended(reason: string): void }) => Connection<Message>;

export type Pool<Message> = {
  /**
   * @param startBy when its sending must have begun, on the clock of performance.now(); later it is not tried any more
   */
  send(message: Message, startBy: number): Promise<Outcome>;
  /** Messages that wait for a connection. */
  waiting(): number;
  /** Finishes what is being sent; what waits is not tried. */
  close(): Promise<void>;
};

type Waiting<Message> = { message: Message; since: number; startBy: number; done(outcome: Outcome): void };
type Line<Message> = {
  state: 'opening' | 'idle' | 'busy';
  /** When it entered the state. */
  since: number;
  connection: Connection<Message>;
  current: Waiting<Message> | null;
};

/** Connections in the ordinary case. */
const USUAL = 4;
/** Connections at most, when messages hang or the server is slow. */
const MOST = 64;
const MAX_WAITING = 5_000;
/** For opening a connection, and for the answer to a message. */
export const TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;
/** A message under way for longer does not count: it may hang, and others must not wait for it. */
const SLOW_MS = 1_000;
/** A wait that lets the pool grow. */
const LONG_WAIT_MS = 500;
/** After a refused connection beside working ones: the server wants no more of them. */
const PAUSE_MS = 5_000;
const TICK_MS = 250;

/**
 * A pool with a queue. A message goes to an open connection at once; one that hangs holds up nobody but itself. When no
 * connection can be opened and none is open, everything that waits ends as `temporary` with `connection`.
 */
export function createPool<Message>(connect: Connect<Message>): Pool<Message> {
  const lines = new Set<Line<Message>>();
  const idle: Line<Message>[] = [];
  const queue: Waiting<Message>[] = [];
  let extra = 0;
  let pauseUntil = 0;
  let ticking: NodeJS.Timeout | null = null;
  let closed: (() => void) | null = null;

  const dispatch = () => {
    while (queue.length > 0 && idle.length > 0) {
      const waiting = queue.shift() as Waiting<Message>;
      if (waiting.startBy < performance.now()) waiting.done('not_tried');
      else run(idle.pop() as Line<Message>, waiting);
    }
    if (queue.length > 0) grow();
  };

  const run = (line: Line<Message>, waiting: Waiting<Message>) => {
    line.state = 'busy';
    line.since = performance.now();
    line.current = waiting;
    line.connection.send(waiting.message).then(
      (outcome) => finish(line, waiting, outcome),
      (error) => finish(line, waiting, { failed: String(error) }),
    );
  };

  const finish = (line: Line<Message>, waiting: Waiting<Message>, outcome: Outcome) => {
    if (line.current !== waiting) return;
    line.current = null;
    waiting.done(outcome);
    if (!lines.has(line)) return endOfClose();
    if (closed) return drop(line, true);
    rest(line);
  };

  const rest = (line: Line<Message>) => {
    line.state = 'idle';
    line.since = performance.now();
    idle.push(line);
    dispatch();
  };

  const grow = () => {
    const now = performance.now();
    if (closed || now < pauseUntil) return;
    let opening = 0;
    let slow = 0;
    for (const line of lines) {
      if (line.state === 'opening') opening++;
      else if (line.state === 'busy' && now - line.since > SLOW_MS) slow++;
    }
    const room = Math.min(USUAL + slow + extra, MOST) - lines.size;
    for (let wanted = Math.min(queue.length - opening, room); wanted > 0; wanted--) open(now);
  };

  const open = (now: number) => {
    const line: Line<Message> = { state: 'opening', since: now, current: null, connection: NOT_YET };
    lines.add(line);
    line.connection = connect({
      ready: () => {
        if (!lines.has(line)) return;
        if (closed) drop(line, true);
        else rest(line);
      },
      ended: (reason) => ended(line, reason),
    });
  };

  const ended = (line: Line<Message>, reason: string) => {
    if (!lines.has(line)) return;
    const { state, current } = line;
    leave(line);
    if (state === 'opening') return couldNotOpen(reason);
    // The connection tells its message's own outcome first, if it has one.
    if (current) setImmediate(() => finish(line, current, { temporary: reason, connection: false }));
    dispatch();
  };

  const couldNotOpen = (reason: string) => {
    for (const line of lines) {
      if (line.state === 'opening') continue;
      pauseUntil = performance.now() + PAUSE_MS;
      return;
    }
    for (const waiting of queue.splice(0)) waiting.done({ temporary: reason, connection: true });
  };

  const leave = (line: Line<Message>) => {
    lines.delete(line);
    const place = idle.indexOf(line);
    if (place >= 0) idle.splice(place, 1);
    endOfClose();
  };

  const drop = (line: Line<Message>, politely: boolean) => {
    leave(line);
    line.connection.close(politely);
  };

  const tick = () => {
    const now = performance.now();
    for (const line of [...lines]) {
      const age = now - line.since;
      if (line.state === 'idle' && age > IDLE_MS) drop(line, true);
      else if (line.state === 'busy' && age > TIMEOUT_MS) giveUp(line);
      else if (line.state === 'opening' && age > TIMEOUT_MS) {
        drop(line, false);
        couldNotOpen('The mail server did not answer in time');
      }
    }
    while (queue.length > 0 && queue[0].startBy < now) queue.shift()?.done('not_tried');
    if (queue.length === 0) extra = 0;
    else if (now - queue[0].since > LONG_WAIT_MS) extra++;
    dispatch();
    if (lines.size === 0 && queue.length === 0) stopTicking();
  };

  const giveUp = (line: Line<Message>) => {
    const waiting = line.current;
    drop(line, false);
    if (waiting) finish(line, waiting, { temporary: 'The mail server did not answer in time', connection: false });
  };

  const stopTicking = () => {
    if (ticking) clearInterval(ticking);
    ticking = null;
  };

  const endOfClose = () => {
    if (closed && lines.size === 0) closed();
  };

  return {
    send(message, startBy) {
      if (closed || queue.length >= MAX_WAITING) return Promise.resolve('not_tried');
      ticking ??= setInterval(tick, TICK_MS).unref();
      return new Promise((done) => {
        queue.push({ message, since: performance.now(), startBy, done });
        dispatch();
      });
    },
    waiting: () => queue.length,
    close() {
      return new Promise((resolve) => {
        closed = () => {
          stopTicking();
          resolve();
        };
        for (const waiting of queue.splice(0)) waiting.done('not_tried');
        for (const line of [...lines]) if (line.state !== 'busy') drop(line, line.state === 'idle');
        endOfClose();
      });
    },
  };
}

const NOT_YET: Connection<never> = { send: () => Promise.resolve('not_tried'), close: () => {} };
