/** Matches a port in a script of package.json: an option of its program, or the variable. */
const PORT_IN_SCRIPT = /(?:^|\s)(?:-p|--port)[ =](\d{2,5})\b|\bPORT=(\d{2,5})\b/;
/** Matches a command whose program takes `--port`. */
const TAKES_PORT = /(?:^|[\s/])(?:next (?:dev|start)|nuxt dev|nuxi dev|astro dev|react-router dev|fastify start|wrangler dev|vite)(?=\s|$)/;
/** The last one of several such options applies to these programs. */
const TAKES_LAST_PORT = /(?:^|[\s/])(?:next|nuxt|nuxi|astro|vite) /;

/** Returns the port that a script of package.json sets; undefined when it sets none. */
export function portInScript(script: string | undefined): number | undefined {
  const match = PORT_IN_SCRIPT.exec(script ?? '');
  const port = Number(match?.slice(1).find(Boolean));
  return port > 0 && port < 65_536 ? port : undefined;
}

/** Returns whether `--port` at the end of a script determines the port at which the app listens. */
export function takesPort(script: string): boolean {
  const last = script.split(/[&|;]/).at(-1) ?? '';
  const isFixed = portInScript(script) !== undefined && (!TAKES_LAST_PORT.test(last) || script.includes('PORT='));
  return TAKES_PORT.test(last) && !isFixed;
}
