// PLACEHOLDER: to be built
export async function stats(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
