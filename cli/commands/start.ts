/** Runs the service until it is told to stop. @returns the exit code */
export async function start(options: { port?: string; host?: string }, env: Record<string, string | undefined>): Promise<number> {
  const { runService } = await import('../../server/main.ts');
  return runService({ ...env, ...(options.port && { PORT: options.port }), ...(options.host && { HOST: options.host }) });
}
