import type { ReactNode } from 'react';
import { MailIcon, SiteIcon } from '../../ui/icons.tsx';

// The texts of the sign-in page and of its email in English. Nothing in the pictures can be used, so that screen readers get one sentence.

const HOST = 'shop.example';
const CODE = '482913';

const Picture = ({ text, children }: { text: string; children: ReactNode }) => (
  <div role="img" aria-label={text} className="grid content-start rounded-panel border border-line bg-panel p-5 shadow-raised sm:p-8">
    {children}
  </div>
);

/** The sign-in page of a website after the address was entered. */
export const SignInPicture = () => (
  <Picture text={`The sign-in page of ${HOST}: Check your email. The six digits of the code are entered.`}>
    <p className="mb-6 flex items-center gap-3 text-sm font-medium">
      <SiteIcon name={HOST} iconUrl={null} />
      <bdi dir="ltr">{HOST}</bdi>
    </p>
    <p className="text-2xl leading-8 font-semibold tracking-tight">Check your email</p>
    <p className="mt-1.5 text-muted">
      We sent a magic link to <strong className="font-medium text-ink wrap-anywhere">ada@example.com</strong>.
    </p>
    <p className="mt-6 mb-1.5 text-sm font-medium">Or enter the 6-digit code</p>
    <p className="grid auto-cols-fr grid-flow-col gap-1.5 sm:gap-2">
      {[...CODE].map((digit, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the boxes have no other identity
          key={index}
          className="grid h-12 place-items-center rounded-control border border-edge/60 font-mono text-xl"
        >
          {digit}
        </span>
      ))}
    </p>
    <p className="mt-4 rounded-control bg-action px-4 py-3 text-center text-[0.9375rem] leading-5 font-medium text-on-action forced-colors:border">
      Sign in with the code
    </p>
  </Picture>
);

/** The email that the visitor gets. */
export const EmailPicture = () => (
  <Picture text={`The email in the inbox of the visitor: ${CODE} is your code for ${HOST}, with a button to sign in.`}>
    <p className="flex items-center gap-2 border-b border-line pb-4 text-sm text-muted">
      <MailIcon />
      Inbox of ada@example.com
    </p>
    <p className="mt-4 font-medium wrap-anywhere">
      {CODE} is your code for <bdi dir="ltr">{HOST}</bdi>
    </p>
    <p className="mt-6 text-xl leading-7 font-semibold tracking-tight">
      Sign in to <bdi dir="ltr">{HOST}</bdi>
    </p>
    <p className="mt-2 text-[0.9375rem] leading-6 text-muted">
      Sign in with the link or with the code. Both expire in 10 minutes and work only once.
    </p>
    <p className="mt-5 justify-self-start rounded-control bg-action px-4 py-3 text-[0.9375rem] leading-5 font-medium text-on-action forced-colors:border">
      Sign in
    </p>
    <p className="mt-5 text-sm text-muted">Or enter this code in the window where you began:</p>
    <p className="mt-1 font-mono text-2xl tracking-[0.2em]">{CODE}</p>
  </Picture>
);
