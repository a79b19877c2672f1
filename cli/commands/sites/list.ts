// PLACEHOLDER: to be built
export async function list(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
