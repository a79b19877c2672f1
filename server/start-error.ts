/** The service cannot start. The message says what the operator can do, so no stack is shown. */
export class StartError extends Error {
  override name = 'StartError';
  readonly exitCode: number = 1;
}
