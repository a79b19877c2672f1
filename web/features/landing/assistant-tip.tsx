import { CopyButton } from '../../ui/copy-button.tsx';

/** The tip for AI assistants: a sentence to paste. */
export function AssistantTip() {
  const prompt = `Add passwordless email sign-in to this site. Read ${location.origin}/llms.txt first.`;
  return (
    <aside aria-labelledby="tip" className="mb-12 flex items-start gap-2 border-l-2 border-accent py-1 pl-5 sm:mb-16">
      <div className="min-w-0 grow">
        <h2 id="tip" className="text-[0.9375rem] font-medium">
          Tip for AI assistants
        </h2>
        <p className="mt-1 text-[0.9375rem] leading-6 text-muted">Paste this into the assistant that writes your site:</p>
        <p className="mt-2 font-mono text-[0.8125rem] leading-6 [overflow-wrap:anywhere]">{prompt}</p>
      </div>
      <CopyButton text={prompt} what="the prompt" notice="Prompt copied" />
    </aside>
  );
}
