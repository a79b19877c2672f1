// PLACEHOLDER: to be built
export async function token(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
