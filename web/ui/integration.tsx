import { useIntegration } from '../lib/templates.ts';
import { CodeBlock } from './code-block.tsx';
import { CodeFiles } from './code-files.tsx';
import { Failed } from './failed.tsx';
import { FrameworkPicker } from './framework-picker.tsx';
import { Skeleton } from './skeleton.tsx';

/** The whole sign-in for a site in the framework of choice: its files, its environment and what is left to do. */
export function Integration({ domain }: { domain: string }) {
  const query = useIntegration(domain);
  const { data } = query;
  return (
    <div className="grid min-w-0 gap-5">
      <FrameworkPicker />
      {query.isError && <Failed {...query} fallback="The code could not be loaded." />}
      {query.isPending && <CodeLoading />}
      {data && (
        <>
          {data.commands.length > 0 && <CodeBlock label="terminal" code={data.commands.join('\n')} />}
          <CodeFiles key={data.framework.id} files={data.files} />
          {data.env.length > 0 && (
            <dl className="divide-y divide-line border-y border-line text-sm">
              {data.env.map(({ name, value, purpose }) => (
                <div key={name} className="grid gap-x-6 gap-y-0.5 py-3 sm:grid-cols-[10rem_1fr]">
                  <dt className="font-mono text-[0.8125rem] leading-6">{name}</dt>
                  <dd className="leading-6 text-muted">
                    <Words text={purpose} />
                    {value && <span className="block font-mono text-[0.8125rem] text-ink [overflow-wrap:anywhere]">{value}</span>}
                  </dd>
                </div>
              ))}
            </dl>
          )}
          <ul className="list-disc space-y-1.5 pl-4 text-[0.9375rem] leading-6 text-muted marker:text-edge [overflow-wrap:anywhere]">
            {data.nextSteps.map((step) => (
              <li key={step}>
                <Words text={step} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** What an AI assistant needs to add the sign-in, in one message for the framework of choice. */
export function AssistantPrompt({ domain }: { domain: string }) {
  const query = useIntegration(domain);
  if (query.isPending) return <CodeLoading />;
  if (query.isError) return <Failed {...query} fallback="The prompt could not be loaded." />;
  return <CodeBlock label={`prompt for ${query.data.framework.name}`} code={query.data.prompt} prose />;
}

/** A sentence whose code stands in backticks. */
const Words = ({ text }: { text: string }) =>
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
