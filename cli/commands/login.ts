// PLACEHOLDER: to be built
export async function login(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
