// PLACEHOLDER: to be built
export async function get(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
