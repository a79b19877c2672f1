// PLACEHOLDER: to be built
export async function add(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
