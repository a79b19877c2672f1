/** The keys that open the commands, as this machine's keyboard names them. */
export const shortcut = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K';
