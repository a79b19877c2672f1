/**
 * Runs `round` `count` times. A round whose request got 503, because it waited too long for PostgreSQL on a busy machine, is repeated,
 * at most a tenth of them.
 * @param round throws an Error with ` 503: ` then
 */
export async function runRounds(count: number, round: (i: number) => Promise<void>): Promise<void> {
  let repeats = 0;
  for (let i = 0; i < count + repeats; i++) {
    await round(i).catch((error: Error) => {
      if (!error.message.includes(' 503: ') || repeats >= count / 10) throw error;
      repeats++;
    });
  }
}
