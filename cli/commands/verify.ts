// PLACEHOLDER: to be built
export async function verify(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
