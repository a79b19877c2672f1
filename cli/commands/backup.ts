// PLACEHOLDER: to be built
export async function backup(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
