import { useSyncExternalStore } from 'react';

/** A value outside of React, with the functions that React and others follow it by. */
type Store<Value> = {
  get(): Value;
  /** Replaces the value and calls the listeners, unless it is the same. */
  set(value: Value): void;
  /** Calls `listener` after each change. Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
};

/** Returns a store with an initial value. */
export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Returns the value of a store and renders the component again when it changes. */
export const useStore = <Value>(store: Store<Value>): Value => useSyncExternalStore(store.subscribe, store.get);

/** Whether the first render is over. It has to equal the HTML of the service, which knows no storage, screen or clock of the browser. */
export const hydrated = createStore(false);

/** Returns whether the script has taken over the page; false in the first render and on the service. */
export const useHydrated = () => useStore(hydrated);
