// PLACEHOLDER: to be built
export async function open(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
