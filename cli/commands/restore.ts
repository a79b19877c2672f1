// PLACEHOLDER: to be built
export async function restore(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
