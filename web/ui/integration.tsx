import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { type Framework, withVariant } from '../../templates/framework.ts';
import { assistantPrompt, type Integration as RenderedIntegration, render, type Sources } from '../../templates/render.ts';
import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { CodeBlock, CodeFiles } from './copyable.tsx';
import { Select } from './field.tsx';
import { Failed, Skeleton } from './states.tsx';

/** The integration of a domain in the selected framework: files, environment variables and next steps. */
export function Integration({ domain }: { domain: string }) {
  const query = useIntegration(domain);
  const { data } = query;
  return (
    <div className="grid min-w-0 gap-5">
      <FrameworkPicker />
      <VariantPicker />
      {query.isError && <Failed {...query} fallback="The code could not be loaded." />}
      {query.isPending && <CodeLoading />}
      {data && (
        <>
          {data.commands.length > 0 && <CodeBlock label="terminal" code={data.commands.join('\n')} />}
          <CodeFiles key={data.files.map(({ path }) => path).join()} files={data.files} />
          {data.env.length > 0 && (
            <dl className="divide-y divide-line border-y border-line text-sm">
              {data.env.map(({ name, value, purpose }) => (
                <div key={name} className="grid gap-x-6 gap-y-0.5 py-3 sm:grid-cols-[10rem_1fr]">
                  <dt className="font-mono text-[0.8125rem] leading-6">{name}</dt>
                  <dd className="leading-6 text-muted">
                    <InlineCode text={purpose} />
                    {value && <span className="block font-mono text-[0.8125rem] text-ink wrap-anywhere">{value}</span>}
                  </dd>
                </div>
              ))}
            </dl>
          )}
          <ul className="list-disc space-y-1.5 pl-4 text-[0.9375rem] leading-6 text-muted marker:text-edge wrap-anywhere">
            {data.nextSteps.map((step) => (
              <li key={step}>
                <InlineCode text={step} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** A prompt that makes an AI assistant add the integration, for the selected framework. */
export function AssistantPrompt({ domain }: { domain: string }) {
  const query = useIntegration(domain);
  if (query.isPending) return <CodeLoading />;
  if (query.isError) return <Failed {...query} fallback="The prompt could not be loaded." />;
  return <CodeBlock label={`prompt for ${query.data.framework.name}`} code={query.data.prompt} prose />;
}

/** Renders the parts of a sentence that are in backticks as code. */
const InlineCode = ({ text }: { text: string }) =>
  text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={part} className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] text-ink">
        {part}
      </code>
    ),
  );

const CodeLoading = () => (
  <div role="status" aria-label="Loading the code">
    <Skeleton className="h-80 w-full" />
  </div>
);

const options = frameworks.map(({ id, name }) => ({ value: id, label: name }));

/** Selects the framework of snippets and prompts: radio buttons, or a select on a phone, whose screen they would fill. */
export function FrameworkPicker() {
  const group = useId();
  const { id: selected } = useFramework();
  return (
    <>
      <div className="sm:hidden">
        <Select label="Framework" options={options} value={selected} onChange={(event) => selectFramework(event.target.value)} />
      </div>
      <fieldset className="hidden sm:block">
        <legend className="mb-2 text-sm font-medium">Framework</legend>
        <div className="flex flex-wrap gap-1.5">
          {options.map(({ value, label }) => (
            <label
              key={value}
              className="flex min-h-11 cursor-pointer items-center rounded-control border border-line bg-panel px-3 text-sm text-muted transition-colors hover:border-edge hover:text-ink has-checked:border-accent has-checked:bg-tint has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name={group}
                value={value}
                checked={value === selected}
                onChange={() => selectFramework(value)}
                className="sr-only"
              />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
    </>
  );
}

/** Selects the kind of project that the files are for, where the framework has variants. */
function VariantPicker() {
  const framework = useFramework();
  const variant = useVariant(framework);
  if (!framework.variants) return null;
  const standard = { value: '', label: framework.standard ?? framework.language };
  const kinds = [standard, ...framework.variants.map(({ id, name }) => ({ value: id, label: name }))];
  return <Select label="Project" options={kinds} value={variant?.id ?? ''} onChange={(event) => selectVariant(event.target.value)} />;
}

// Each file is a separate chunk, loaded when its framework is shown.
const loaders = import.meta.glob<string>('../../templates/*/*', { query: '?raw', import: 'default' });

async function sourcesOf({ id, files }: Framework): Promise<Sources> {
  const load = async ({ source }: { source: string }) => [source, await loaders[`../../templates/${id}/${source}`]()] as const;
  return Object.fromEntries(await Promise.all(files.map(load)));
}

const FRAMEWORK_KEY = 'framework';
const selected = createStore(readStored(local, FRAMEWORK_KEY) ?? '');

/** Selects the framework of all snippets and prompts, in this browser. */
function selectFramework(id: string) {
  writeStored(local, FRAMEWORK_KEY, id);
  selected.set(id);
}

const VARIANT_KEY = 'variant';
const selectedVariant = createStore(readStored(local, VARIANT_KEY) ?? '');

/** Selects a variant of the selected framework, in this browser; any other id stands for the standard. */
function selectVariant(id: string) {
  writeStored(local, VARIANT_KEY, id);
  selectedVariant.set(id);
}

/** Returns the selected variant of a framework; undefined for the standard. */
function useVariant({ variants }: Framework) {
  const id = useStore(selectedVariant);
  return variants?.find((variant) => variant.id === id);
}

/** Returns the selected framework, by default the first one. */
const useFramework = (): Framework => frameworkOf(useStore(selected)) ?? frameworks[0];

type FrameworkIntegration = RenderedIntegration & { framework: Framework; prompt: string };

/**
 * Loads the integration of a domain in the selected framework, with the prompt for an assistant. While another framework is
 * loaded, `data` is that of the previous one.
 */
function useIntegration(domain: string) {
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
