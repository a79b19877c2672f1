import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useUser } from '../../lib/session.ts';
import { paths } from '../../paths.ts';
import { Loading } from '../../ui/loading.tsx';
import { AssistantTip } from './assistant-tip.tsx';
import { Hero } from './hero.tsx';
import { Services } from './services.tsx';

/** /: what the service is; somebody who is signed in goes on to the portal. */
export function LandingPage() {
  const { data: user, isPending } = useUser();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (user) navigate(paths.developer, { replace: true });
  }, [user, navigate]);

  if (isPending || user) return <Loading />;
  return (
    <>
      <Hero />
      <AssistantTip />
      <Services />
      <Blurbs />
    </>
  );
}

const blurbs = [
  {
    title: 'Secure by Design',
    text: 'Only registered domains, single-use tokens, links that redirect to the exact address that was asked for, and an audit log.',
  },
  {
    title: 'Lightning Fast',
    text: 'Set up in under 2 minutes, active at once. One request sends the mail, one request verifies the token.',
  },
  {
    title: 'AI Assistant Ready',
    text: 'One link and one GET: short enough to fit a prompt, precise enough for an assistant to get it right.',
  },
];

function Blurbs() {
  return (
    <section aria-label="What to expect" className="grid gap-8 border-t border-line py-12 sm:grid-cols-3 sm:py-16">
      {blurbs.map(({ title, text }) => (
        <div key={title}>
          <h2 className="font-semibold tracking-tight">{title}</h2>
          <p className="mt-2 text-[0.9375rem] leading-6 text-muted">{text}</p>
        </div>
      ))}
    </section>
  );
}
