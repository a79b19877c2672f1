import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { docPath } from '../../docs/pages.ts';
import { frameworkOf, frameworks } from '../../templates/catalog.ts';
import { type Framework, forNewProject, withVariant } from '../../templates/framework.ts';
import { assistantPrompt, type Integration as RenderedIntegration, render, type Sources } from '../../templates/render.ts';
import { useSite } from '../lib/site.ts';
import { local, readStored, writeStored } from '../lib/storage.ts';
import { createStore, useHydrated, useStore } from '../lib/store.ts';
import { CodeBlock, CodeFiles } from './copyable.tsx';
import { cx } from './cx.ts';
import { Select } from './field.tsx';
import { Failed, Skeleton } from './states.tsx';

/** The integration of a domain in the selected framework: files, environment variables and next steps. */
export function Integration({ domain, compact = false }: { domain: string; compact?: boolean }) {
  const query = useIntegration(domain);
  const { data } = query;
  const hydrated = useHydrated();
  return (
    <div className="grid min-w-0 gap-5">
      <div className={cx('grid gap-5', compact && 'sm:grid-cols-2')}>
        <FrameworkPicker compact={compact} />
        <ProjectPicker />
      </div>
      {query.isError && <Failed {...query} fallback="The code could not be loaded." />}
      {query.isPending && <CodeLoading />}
      {data && (
        <>
          {data.commands.length > 0 && (
            <Part text={data.isNew ? 'Make a project in an empty directory:' : 'In the directory of your project:'}>
              <CodeBlock label="install" code={data.commands.join('\n')} />
            </Part>
          )}
          <Part text={filesText(data)}>
            <CodeFiles key={data.files.map(({ path }) => path).join()} files={data.files} />
          </Part>
          {data.env.length > 0 && (
            <Part
              text={`Save the settings as \`.env\` in the directory from which you start the app, and keep the file out of version control. ${hydrated ? 'The secret was made in this browser.' : '`openssl rand -hex 32` makes a secret.'}`}
            >
              <CodeBlock label=".env" code={envFile(data.env, hydrated)} />
            </Part>
          )}
          {data.start && (
            <Part text={`Start the app, and open \`${data.site}\`:`}>
              <CodeBlock label="start" code={data.start.join('\n')} />
            </Part>
          )}
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

/** Code below what to do with it. @param text code is in backticks */
const Part = ({ text, children }: { text: string; children: ReactNode }) => (
  <div className="grid min-w-0 gap-2.5">
    <p className="text-[0.9375rem] leading-6 text-muted wrap-anywhere">
      <InlineCode text={text} />
    </p>
    {children}
  </div>
);

/** Returns where to save the files of an integration. */
function filesText({ isNew, files, commands }: FrameworkIntegration): string {
  const what = files.length === 1 ? 'this file' : 'these files';
  if (!isNew) {
    const isBeside = files.length === 1 && !files[0].path.includes('/');
    return isBeside ? 'Save this file next to the entry file of your app:' : `Save ${what} in your project:`;
  }
  return commands.length > 0 ? `Save ${what} there:` : `Save ${what} in an empty directory:`;
}

let secret: string | undefined;

/** Returns a new secret of 64 random characters, the same one until the page is loaded again. */
function sessionSecret(): string {
  secret ??= [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return secret;
}

/** Returns the file `.env` with all settings of an integration. @param hydrated false on the service, whose page is the same for everyone and has no secret */
const envFile = (env: RenderedIntegration['env'], hydrated: boolean) =>
  env.map(({ name, value }) => `${name}=${hydrated && name === 'SESSION_SECRET' ? sessionSecret() : value}`).join('\n');

/** Returns what to know about the settings, as sentences. */
function envSteps({ env, site, framework: { loadEnv } }: FrameworkIntegration): string[] {
  if (env.length === 0) return [];
  return [
    ...(site.startsWith('http:') ? [`\`SITE_URL\` is the address of your app: if it does not run at \`${site}\`, correct it.`] : []),
    ...(loadEnv ? [loadEnv] : []),
  ];
}

/** A prompt that makes an AI assistant add the integration, for the selected framework. */
export function AssistantPrompt({ domain }: { domain: string }) {
  const query = useIntegration(domain, true);
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
  if (!useHydrated()) return <FrameworkLinks />;
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

/** What stands for the picker without a script, in the same place: links to the page of each framework. */
const FrameworkLinks = () => (
  <div>
    <p className="mb-2 text-sm font-medium">Framework</p>
    <ul className="flex flex-wrap gap-1.5 max-sm:h-11 max-sm:flex-nowrap max-sm:overflow-x-auto">
      {frameworks.map(({ id, name }) => (
        <li key={id}>
          <a href={docPath(`frameworks/${id}`)} className={`${pill} whitespace-nowrap`}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  </div>
);

const pill =
  'flex min-h-11 items-center rounded-control border border-line bg-panel px-3 text-sm text-muted transition-colors wrap-anywhere hover:border-edge hover:text-ink';

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
            className={`${pill} cursor-pointer has-checked:border-accent has-checked:bg-tint has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent`}
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

/** Selects the kind of project that the files are for: a new one, or one of the kinds that the framework has. */
function ProjectPicker() {
  const framework = useFramework();
  const { standard, variants, newProject } = framework;
  const selected = useProject(framework);
  const kinds = [
    ...(newProject ? [{ value: NEW, label: 'New, in an empty directory' }] : []),
    { value: EXISTING, label: standard ?? 'Existing' },
    ...(variants ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  const hydrated = useHydrated();
  if (kinds.length === 1) return null;
  if (!hydrated) return <div className="h-[4.375rem]" />;
  return <Select label="Project" options={kinds} value={selected} onChange={(event) => selectProject(event.target.value)} />;
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

const PROJECT_KEY = 'project';
const NEW = 'new';
const EXISTING = 'existing';
const selectedProject = createStore(readStored(local, PROJECT_KEY) ?? NEW);

/** Selects the kind of project that all snippets are for, in this browser. */
function selectProject(kind: string) {
  writeStored(local, PROJECT_KEY, kind);
  selectedProject.set(kind);
}

/** Returns the selected kind of project, as far as the framework has it: `new`, `existing` or the id of a variant. */
function useProject({ variants, newProject }: Framework): string {
  const stored = useStore(selectedProject);
  const kind = useHydrated() ? stored : NEW;
  return (kind === NEW && newProject) || variants?.some(({ id }) => id === kind) ? kind : EXISTING;
}

/** Returns the selected framework, by default the first one. */
function useFramework(): Framework {
  const id = useStore(selected);
  return (useHydrated() && frameworkOf(id)) || frameworks[0];
}

/** Loads the integration that a page shows before its script has run. */
export async function loadFirstIntegration(queries: QueryClient): Promise<void> {
  const [first] = frameworks;
  for (const isNew of [true, false]) {
    const framework = isNew ? forNewProject(first) : first;
    queries.setQueryData(keyOf(framework, isNew ? NEW : undefined), { framework, isNew, sources: await sourcesOf(framework) });
  }
}

const keyOf = ({ id }: Framework, variant?: string) => ['template', id, variant];

type FrameworkIntegration = RenderedIntegration & { framework: Framework; isNew: boolean; prompt: string };

/**
 * Loads the integration of a domain in the selected framework, with the prompt for an assistant. While another framework is
 * loaded, `data` is that of the previous one.
 * @param forExisting for an existing project, also while a new one is selected
 */
export function useIntegration(domain: string, forExisting = false) {
  const selected = useFramework();
  const project = useProject(selected);
  const { origin } = useSite();
  const isNew = project === NEW && !forExisting;
  const variant = selected.variants?.find(({ id }) => id === project);
  const framework = isNew ? forNewProject(selected) : withVariant(selected, variant);
  return useQuery({
    queryKey: keyOf(framework, isNew ? NEW : variant?.id),
    queryFn: async () => ({ framework, isNew, sources: await sourcesOf(framework) }),
    placeholderData: (previous) => previous,
    select: (loaded): FrameworkIntegration => {
      const filling = { origin, domain };
      const integration = render(loaded.framework, loaded.sources, filling);
      return { ...loaded, ...integration, prompt: assistantPrompt(loaded.framework, integration, filling) };
    },
  });
}
