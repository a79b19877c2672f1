// PLACEHOLDER: to be built
export async function logout(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
