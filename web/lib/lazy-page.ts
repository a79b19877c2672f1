import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** A page whose chunk is loaded when it is rendered, or before by `preload`. */
export type LazyPage<Props> = LazyExoticComponent<ComponentType<Props>> & { preload(): void };

/** Returns a page that is loaded when it is rendered. @param name of its export */
export function lazyPage<Name extends string, Props = object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
): LazyPage<Props> {
  // A chunk that could not be loaded is reported when the page is rendered.
  const preload = () => void load().catch(() => {});
  return Object.assign(
    lazy(async () => ({ default: (await load())[name] })),
    { preload },
  );
}
