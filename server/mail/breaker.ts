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
