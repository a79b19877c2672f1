// PLACEHOLDER: to be built
export async function remove(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
