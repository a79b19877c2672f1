import './static.css';
import type { ReactElement } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { SESSION_SEEN_COOKIE, SESSION_SEEN_SECONDS } from '../contract/remembered.ts';
import { ThemeSwitch } from './chrome/page-frame.tsx';
import { watchMenu } from './chrome/public-frame.tsx';
import { DocSearch } from './features/docs/doc-search.tsx';
import { dayOf } from './features/legal/legal-pages.tsx';
import { api } from './lib/api.ts';
import { writeCookie } from './lib/storage.ts';
import { hydrated } from './lib/store.ts';
import { copyText } from './ui/copyable.tsx';
import { CheckIcon, CopyIcon } from './ui/icons.tsx';
import { showKeptToast, Toaster, toastFailure } from './ui/toast.tsx';
import { TooltipHost } from './ui/tooltip.tsx';

const { dataset } = document.documentElement;

/** Takes over the elements with a name in the HTML of the service. */
function takeOver(island: string, content: ReactElement) {
  for (const element of document.querySelectorAll(`[data-island="${island}"]`)) hydrateRoot(element, content);
}

takeOver('theme', <ThemeSwitch />);
takeOver('search', <DocSearch />);

const CHECK_MARK_MS = 2000;

async function copy(button: HTMLElement) {
  const { copy = '', notice = '' } = button.dataset;
  if (!(await copyText(copy, notice))) return;
  const icon = createRoot(button);
  icon.render(<CheckIcon className="size-4 text-accent" />);
  setTimeout(() => icon.render(<CopyIcon />), CHECK_MARK_MS);
}

const fetchText = async (path: string) => {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} could not be loaded.`);
  return response.text();
};

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>('button') : null;
  if (button?.dataset.copy !== undefined) void copy(button);
  if (button?.dataset.copyPage) void copyText(fetchText(button.dataset.copyPage), 'Page copied as Markdown');
});

watchMenu();
createRoot(document.body.appendChild(document.createElement('div'))).render(
  <>
    <Toaster />
    <TooltipHost />
  </>,
);
// Screen readers announce what is added to a region that is in the page.
setTimeout(showKeptToast);

for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-today]')) {
  const { text, dateTime } = dayOf(new Date());
  Object.assign(element, { textContent: text, dateTime });
}
for (const element of document.querySelectorAll('[data-path]')) element.textContent = location.pathname;

// The cookie of a session that has ended stays until the next sign-in.
if (dataset.account !== undefined) {
  void api.session({}).then(
    ({ user }) => {
      writeCookie(SESSION_SEEN_COOKIE, user && '1', SESSION_SEEN_SECONDS);
      if (!user) delete dataset.account;
    },
    () => {},
  );
}

/** The code of the guide is a chunk of its own. */
async function takeOverGuide() {
  const { prepareGuideCode, GuidePrompt, GuideFiles } = await import('./features/guide/guide-code.tsx');
  await prepareGuideCode();
  takeOver('prompt', <GuidePrompt />);
  takeOver('files', <GuideFiles />);
}

/** The first render of all components is over. */
function finish() {
  hydrated.set(true);
  dataset.script = 'running';
}

if (!document.querySelector('[data-island="files"]')) finish();
// Not awaited: the chunk imports this one, which has to end first.
else {
  void takeOverGuide()
    .catch(() => toastFailure('The code of other frameworks could not be loaded', 'Check your connection and load the page again.'))
    .finally(finish);
}
