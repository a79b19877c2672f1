import { CopyButton } from '../../ui/copy-button.tsx';

const promptsFor = (origin: string) => [
  `Add passwordless email sign-in to this site with the service at ${origin}. Read ${origin}/llms.txt first. Send visitors to ${origin}/auth with a forward_url on our domain that carries a state of our own, and verify the token on our server with GET /api/verify-token, naming our domain.`,
  `Protect the pages under /account: who has no session goes to /login, and after a valid token comes back to the page that was asked for.`,
  `Write tests for our email sign-in: a valid token, a used one, an expired one, one of another site, and a state that does not match.`,
];

/** Example prompts that an assistant can work from. */
export function AssistantPrompts({ origin }: { origin: string }) {
  return (
    <ul className="divide-y divide-line border-y border-line">
      {promptsFor(origin).map((prompt, index) => (
        <li key={prompt} className="flex items-start gap-2 py-2">
          <p className="min-w-0 grow py-2.5 text-[0.9375rem] leading-6 [overflow-wrap:anywhere]">{prompt}</p>
          <CopyButton text={prompt} what={`prompt ${index + 1}`} notice="Prompt copied" />
        </li>
      ))}
    </ul>
  );
}
