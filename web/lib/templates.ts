import { useQuery } from '@tanstack/react-query';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { type Framework, withVariant } from '../../templates/framework.ts';
import { assistantPrompt, type Integration, render, type Sources } from '../../templates/render.ts';
import { local, readStored, writeStored } from './storage.ts';
import { createStore, useStore } from './store.ts';

// Each file is a separate chunk, loaded when its framework is shown.
const loaders = import.meta.glob<string>('../../templates/*/*', { query: '?raw', import: 'default' });

async function sourcesOf({ id, files }: Framework): Promise<Sources> {
  const load = async ({ source }: { source: string }) => [source, await loaders[`../../templates/${id}/${source}`]()] as const;
  return Object.fromEntries(await Promise.all(files.map(load)));
}

const STORED = 'framework';
const selected = createStore(readStored(local, STORED) ?? '');

/** Selects the framework of all snippets and prompts, in this browser. */
export function selectFramework(id: string) {
  writeStored(local, STORED, id);
  selected.set(id);
}

const VARIANT_STORED = 'variant';
const selectedVariant = createStore(readStored(local, VARIANT_STORED) ?? '');

/** Selects a variant of the selected framework, in this browser; any other id stands for the standard. */
export function selectVariant(id: string) {
  writeStored(local, VARIANT_STORED, id);
  selectedVariant.set(id);
}

/** Returns the selected variant of a framework; undefined for the standard. */
export function useVariant({ variants }: Framework) {
  const id = useStore(selectedVariant);
  return variants?.find((variant) => variant.id === id);
}

/** Returns the selected framework, by default the first one. */
export const useFramework = (): Framework => frameworkOf(useStore(selected)) ?? frameworks[0];

type FrameworkIntegration = Integration & { framework: Framework; prompt: string };

/**
 * Loads the integration of a domain in the selected framework, with the prompt for an assistant. While another framework is
 * loaded, `data` is that of the previous one.
 */
export function useIntegration(domain: string) {
  const selected = useFramework();
  const variant = useVariant(selected);
  const framework = withVariant(selected, variant);
  return useQuery({
    queryKey: ['template', framework.id, variant?.id],
    queryFn: async () => ({ framework, sources: await sourcesOf(framework) }),
    placeholderData: (previous) => previous,
    select: (loaded): FrameworkIntegration => {
      const filling = { origin: location.origin, domain };
      const integration = render(loaded.framework, loaded.sources, filling);
      return { ...integration, framework: loaded.framework, prompt: assistantPrompt(loaded.framework, integration, filling) };
    },
  });
}
