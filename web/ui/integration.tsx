import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { type Framework, withVariant } from '../../templates/framework.ts';
import { assistantPrompt, type Integration as RenderedIntegration, render, type Sources } from '../../templates/render.ts';
import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { CodeBlock, CodeFiles } from './copyable.tsx';
import { cx } from './cx.ts';
import { Select } from './field.tsx';
import { Failed, Skeleton } from './states.tsx';

/** The integration of a domain in the selected framework: files, environment variables and next steps. */
export function Integration({ domain, compact = false }: { domain: string; compact?: boolean }) {
  const query = useIntegration(domain);
  const { data } = query;
  return (
    <div className="grid min-w-0 gap-5">
      <div className={cx('grid gap-5', compact && 'sm:grid-cols-2')}>
        <FrameworkPicker compact={compact} />
        <VariantPicker />
      </div>
      {query.isError && <Failed {...query} fallback="The code could not be loaded." />}
      {query.isPending && <CodeLoading />}
      {data && (
        <>
          {data.commands.length > 0 && <CodeBlock label="terminal" code={data.commands.join('\n')} />}
          <CodeFiles key={data.files.map(({ path }) => path).join()} files={data.files} />
          {data.env.length > 0 && <CodeBlock label=".env" code={envFile(data.env)} />}
          <ul className="list-disc space-y-1.5 pl-4 text-[0.9375rem] leading-6 text-muted marker:text-edge wrap-anywhere">
            {[...envSteps(data), ...data.nextSteps].map((step) => (
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

let secret: string | undefined;

/** Returns a new secret of 64 random characters, the same one until the page is loaded again. */
function sessionSecret(): string {
  secret ??= [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return secret;
}

/** Returns the file `.env` with all settings of an integration. */
const envFile = (env: RenderedIntegration['env']) =>
  env.map(({ name, value }) => `${name}=${name === 'SESSION_SECRET' ? sessionSecret() : value}`).join('\n');

/** Returns what to know about the settings, as sentences. */
function envSteps({ env, site, framework: { loadEnv } }: FrameworkIntegration): string[] {
  if (env.length === 0) return [];
  return [
    'Save the settings as `.env` in the directory from which you start your app, and keep the file out of version control. The secret was made in this browser.',
    ...(site.startsWith('http:') ? [`\`SITE_URL\` is the address of your app: if it does not run at \`${site}\`, correct it.`] : []),
    ...(loadEnv ? [loadEnv] : []),
  ];
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

/** Selects the framework of snippets and prompts: radio buttons, or a select on a phone, whose screen they would fill, and where space is short. */
export function FrameworkPicker({ compact = false }: { compact?: boolean }) {
  const { id: selected } = useFramework();
  return (
    <>
      <div className={compact ? undefined : 'sm:hidden'}>
        <Select label="Framework" options={options} value={selected} onChange={(event) => selectFramework(event.target.value)} />
      </div>
      {!compact && (
        <div className="hidden sm:block">
          <Pills label="Framework" options={options} selected={selected} onSelect={selectFramework} />
        </div>
      )}
    </>
  );
}

/** Radio buttons in a row. */
export function Pills<Value extends string>({
  label: legend,
  options,
  selected,
  onSelect,
}: {
  label: string;
  options: readonly { value: Value; label: string }[];
  selected: Value;
  onSelect: (value: Value) => void;
}) {
  const group = useId();
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-1.5">
        {options.map(({ value, label }) => (
          <label
            key={value}
            className="flex min-h-11 cursor-pointer items-center rounded-control border border-line bg-panel px-3 text-sm text-muted transition-colors wrap-anywhere hover:border-edge hover:text-ink has-checked:border-accent has-checked:bg-tint has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={group}
              value={value}
              checked={value === selected}
              onChange={() => onSelect(value)}
              className="sr-only"
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
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
