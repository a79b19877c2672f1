// PLACEHOLDER: to be built
export async function listConfig(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
export async function getConfig(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
export async function setConfig(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
