// PLACEHOLDER: to be built
export async function doctor(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
