// PLACEHOLDER: to be built
export async function init(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
