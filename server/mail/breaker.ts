/** Keeps a process from trying every mail on a mail server that cannot be reached. */
export type Breaker = {
  isOpen(): boolean;
  /** Whether a mail may be tried now: always while closed; while open, one probe in every interval. */
  admits(): boolean;
  /** Gives a probe back that was not made. */
  unused(): void;
  /** The server could not be reached. @returns whether that is news */
  failed(): boolean;
  /** The server answered, whatever it said. @returns whether that is news */
  answered(): boolean;
};

/** @param now milliseconds of a clock that never goes back */
export function createBreaker(intervalMs: number, now: () => number = () => performance.now()): Breaker {
  let nextProbe: number | null = null;
  return {
    isOpen: () => nextProbe !== null,
    admits() {
      if (nextProbe === null) return true;
      if (now() < nextProbe) return false;
      nextProbe = now() + intervalMs;
      return true;
    },
    unused() {
      if (nextProbe !== null) nextProbe = now();
    },
    failed() {
      const news = nextProbe === null;
      nextProbe ??= now() + intervalMs;
      return news;
    },
    answered() {
      const news = nextProbe !== null;
      nextProbe = null;
      return news;
    },
  };
}
