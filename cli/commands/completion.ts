// PLACEHOLDER: to be built
export async function completion(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
