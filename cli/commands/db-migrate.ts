// PLACEHOLDER: to be built
export async function migrateDatabase(..._: unknown[]): Promise<0> {
  throw new Error('not built');
}
