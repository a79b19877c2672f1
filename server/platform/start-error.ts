/** The service cannot start. The message says what the operator can do, so no stack is shown. */
export class StartError extends Error {
  override name = 'StartError';
  readonly exitCode: number = 1;
}

/** Everything that is wrong with the settings, each fault with its remedy. */
export class ConfigError extends StartError {
  override name = 'ConfigError';
  /** The command line's exit code for invalid input. */
  override readonly exitCode = 3;
  readonly faults: string[];

  constructor(faults: string[]) {
    const title = faults.length === 1 ? 'One setting needs a change' : `${faults.length} settings need a change`;
    super(`${title}; nothing was started.\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}
