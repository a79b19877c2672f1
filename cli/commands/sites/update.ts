// PLACEHOLDER: to be built
export async function update(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
