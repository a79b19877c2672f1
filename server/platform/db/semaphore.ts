import { Fault } from '../../../contract/errors.ts';

/** Calls end with 503 after 2.9 s; what begins later than this would not end in time. */
const MAX_WAIT_MS = 2_500;

/** Runs a limited number of tasks at once and the others in turn. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param size how many tasks run at once */
  constructor(size: number) {
    this.#free = size;
  }

  /** @throws Fault unavailable when its turn did not come within MAX_WAIT_MS; the caller has got a 503 by then, so the task must not run */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (performance.now() - began > MAX_WAIT_MS) throw new Fault('unavailable', { retryAfter: 2 });
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
