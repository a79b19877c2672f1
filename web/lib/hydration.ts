import { createStore, useStore } from './store.ts';

/** Whether the first render is over: it has to equal the HTML of the service, which knows no storage, no screen and no clock of the browser. */
export const hydrated = createStore(false);

/** Returns whether the script has taken over the page; false in the first render and on the service. */
export const useHydrated = () => useStore(hydrated);
