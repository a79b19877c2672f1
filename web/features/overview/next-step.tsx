import { Link } from 'wouter';
import { signInLinkSnippet } from '../../lib/snippets.ts';
import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Empty } from '../../ui/states.tsx';

/** The next step until the first sign-in: add a website, then link to its sign-in page. */
export function NextStep({ domains, logins }: { domains: string[]; logins: number }) {
  const [domain] = domains;
  if (!domain) {
    return (
      <section aria-labelledby="next" className="mt-10">
        <h2 id="next" className="sr-only">
          Next step
        </h2>
        <Empty title="Add your first website" text="Its visitors can sign in by email as soon as its domain is listed under My Websites.">
          <ButtonLink as={Link} href={paths.websites}>
            Add a website
          </ButtonLink>
        </Empty>
      </section>
    );
  }
  if (logins > 0) return null;
  const signIn = `${paths.signIn}?forward_url=${encodeURIComponent(`https://${domain}/`)}`;
  return (
    <section aria-labelledby="next" className="mt-10 grid grid-cols-1 gap-4">
      <div>
        <h2 id="next" className="text-lg font-semibold tracking-tight">
          Link to your sign-in page
        </h2>
        <p className="mt-1 max-w-2xl text-[0.9375rem] leading-6 text-muted wrap-anywhere">
          Nobody has signed in yet. Put this link on {domain}; a visitor who signs in returns with a token, which your server verifies once.
        </p>
      </div>
      <CodeBlock label={`Link on ${domain}`} code={signInLinkSnippet(location.origin, domain)} />
      <div className="flex flex-wrap gap-2">
        <ButtonLink variant="secondary" href={signIn}>
          Open its sign-in page
        </ButtonLink>
        <ButtonLink variant="quiet" as={Link} href={paths.guide}>
          Read the guide
        </ButtonLink>
      </div>
    </section>
  );
}
