import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import type { Framework } from '../../templates/framework.ts';
import { assistantPrompt } from '../../templates/prompt.ts';
import { type Integration, render, type Sources } from '../../templates/render.ts';
import { local, readStored, writeStored } from './storage.ts';

// Each file is a chunk of its own, loaded when its framework is shown.
const loaders = import.meta.glob<string>('../../templates/*/*', { query: '?raw', import: 'default' });

async function sourcesOf({ id, files }: Framework): Promise<Sources> {
  const load = async ({ source }: { source: string }) => [source, await loaders[`../../templates/${id}/${source}`]()] as const;
  return Object.fromEntries(await Promise.all(files.map(load)));
}

const STORED = 'framework';
const watchers = new Set<() => void>();

/** Remembers the framework for the next visit and shows it in every place of the page. */
export function chooseFramework(id: string) {
  writeStored(local, STORED, id);
  chosen = id;
  for (const watcher of watchers) watcher();
}

let chosen = readStored(local, STORED) ?? '';

function watch(watcher: () => void) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The framework that was chosen last, in this browser; the first one until then. */
export const useFramework = (): Framework => frameworkOf(useSyncExternalStore(watch, () => chosen)) ?? frameworks[0];

export type ShownIntegration = Integration & { framework: Framework; prompt: string };

/**
 * The chosen framework's integration for a domain, with its prompt for an assistant. While another framework is loaded, `data`
 * is still the one before.
 */
export function useIntegration(domain: string) {
  const framework = useFramework();
  return useQuery({
    queryKey: ['template', framework.id],
    queryFn: async () => ({ framework, sources: await sourcesOf(framework) }),
    placeholderData: (previous) => previous,
    select: (shown): ShownIntegration => {
      const filling = { origin: location.origin, domain };
      const integration = render(shown.framework, shown.sources, filling);
      return { ...integration, framework: shown.framework, prompt: assistantPrompt(shown.framework, integration, filling) };
    },
  });
}
