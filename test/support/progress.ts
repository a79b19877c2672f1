import { relative } from 'node:path';
import type { TestCase, TestModule } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

/** Prints a line for each test file that ends: how many have, how long it took, and about how much time is left. */
export default class Progress implements Reporter {
  #files = 0;
  #done = 0;
  #start = 0;

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#files = specifications.length;
    this.#start = performance.now();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#done++;
    const tests = [...module.children.allTests()];
    const failed = tests.filter((test) => test.result().state === 'failed');
    const isFailed = module.state() === 'failed';
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    const count = failed.length > 0 ? `${failed.length} of ${tests.length} tests failed` : `${tests.length} tests`;
    console.log(`${this.#place()} ${isFailed ? 'FAILED' : 'passed'} ${pathOf(module)}: ${count}, ${seconds} s`);
    for (const test of failed) console.log(failureOf(test));
    for (const { message } of module.errors()) console.log(message.replace(/^/gm, '  '));
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly { message: string; stack?: string }[]): void {
    for (const { message, stack } of errors) console.log(`Outside of tests: ${stack ?? message}`);
    console.log(`${this.#done} of ${this.#files} files in ${timeOf(performance.now() - this.#start)}`);
  }

  #place(): string {
    const left = ((performance.now() - this.#start) / this.#done) * (this.#files - this.#done);
    return `[${this.#done}/${this.#files}, ${this.#done < this.#files ? `about ${timeOf(left)} left` : 'the last'}]`;
  }
}

const pathOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

const failureOf = (test: TestCase) =>
  `  ${test.fullName}\n${(test.result().errors ?? []).map(({ message }) => message.replace(/^/gm, '    ')).join('\n')}`;

/** Returns a duration as "1 min 5 s". @param milliseconds */
function timeOf(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
