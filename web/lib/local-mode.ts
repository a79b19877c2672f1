// Apart from ui/local-mode.tsx, whose rules of hosts the first load does not need. The service writes it into the page (server/pages/web-app.ts).
const local = globalThis.document?.documentElement.dataset.local;

/** Whether the service runs in local mode, which accepts this computer as a website without a registration. */
export const isLocalMode = local !== undefined;

/** Whether emails stay in the built-in inbox. */
export const hasInbox = local === 'inbox';
