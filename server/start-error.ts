/** The service cannot start, and the message tells the operator what to do; no stack is needed. */
export class StartError extends Error {
  override name = 'StartError';
  readonly exitCode: number = 1;
}
