// PLACEHOLDER: to be built
export async function register(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
