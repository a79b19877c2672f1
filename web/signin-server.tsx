import { renderToString } from 'react-dom/server';
import type { SignInBoot } from '../contract/pages.ts';
import { SignInApp } from './features/signin/app.tsx';
import { TitleContext } from './ui/page-heading.tsx';

/** Returns the HTML of a sign-in page, for the element that signin.tsx takes over, and the title of its document. */
export function renderSignIn(boot: SignInBoot): { html: string; title: string } {
  const page = { title: 'Email Auth' };
  const html = renderToString(
    <TitleContext value={page}>
      <SignInApp boot={boot} />
    </TitleContext>,
  );
  return { html, title: page.title };
}
