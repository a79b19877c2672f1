import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { WEBSITE_PATHS } from '../../../contract/pages.ts';
import { isThisMachine, LOCAL_APP, LOCALHOST } from '../../../contract/urls.ts';
import { errorText } from '../../lib/api.ts';
import { useAct, useCall, useRefresh } from '../../lib/calls.ts';
import { hasInbox, isLocalMode } from '../../lib/local-mode.ts';
import { INBOX, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Field } from '../../ui/field.tsx';
import { CheckIcon, CrossIcon, OpenIcon } from '../../ui/icons.tsx';
import { useIntegration } from '../../ui/integration.tsx';
import { Disclosure, RowsLoading } from '../../ui/panels.tsx';
import { Alert, Failed } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { LiveState, useLiveEvents, withCode } from './live-events.tsx';
import { STEP_TITLES, type Website } from './website.ts';
import { Proof } from './website-actions.tsx';

type Setup = Output<'websiteSetup'>;
type Step = Setup['steps'][number];

/** How often the state is read without an event: whether the service can send emails is none. */
const RELOAD_MS = 30_000;
/** How soon it is read again while the service does not know where the events begin. */
const RETRY_MS = 1_000;

/** The steps of the set-up with their states, which change by themselves. Once all are done, they fold to one line. */
export function Checklist({ website }: { website: Website }) {
  const { query, failed } = useSetup(website);
  const { data } = query;
  return (
    <section aria-labelledby="checklist">
      {data && <Changes steps={data.steps} />}
      {!data && (
        <h2 id="checklist" className="sr-only">
          Set up
        </h2>
      )}
      {query.error && !data && <Failed {...query} fallback="The state of the set-up could not be loaded." />}
      {!data && !query.error && <RowsLoading what="the state of the set-up" rows={5} />}
      {data?.complete && (
        <>
          <h2 id="checklist" className="sr-only">
            Set up
          </h2>
          <Disclosure
            summary={
              <span className="flex items-center gap-2.5">
                <CheckIcon className="size-4 text-accent" />
                Set up is complete
              </span>
            }
          >
            <Steps website={website} setup={data} />
          </Disclosure>
        </>
      )}
      {data && !data.complete && (
        <>
          <div className="mb-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
            <div>
              <h2 id="checklist" className="text-lg font-semibold tracking-tight">
                Set up
              </h2>
              <p className="text-[0.9375rem] leading-6 text-muted">{progressOf(data.steps)}</p>
            </div>
            <LiveState paused={false} failed={failed} className="sm:justify-end" />
          </div>
          <div className="rounded-panel border border-line bg-panel">
            <Steps website={website} setup={data} />
          </div>
        </>
      )}
    </section>
  );
}

/** Loads the state of the set-up again at each event of the website; in local mode also at those of localhost. */
function useSetup({ domain }: Website) {
  const refresh = useRefresh();
  const query = useCall(
    'websiteSetup',
    { domain },
    {
      refetchOnMount: 'always',
      refetchInterval: ({ state }) => (state.data?.cursor === null ? RETRY_MS : RELOAD_MS),
    },
  );
  const { events, error } = useLiveEvents(isLocalMode ? undefined : domain, false, query.data?.cursor ?? undefined);
  const newest = events.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is loaded again at each event
  useEffect(() => {
    if (newest !== undefined) void refresh('websiteSetup', 'readWebsite');
  }, [newest]);
  return { query, failed: Boolean(error) };
}

function progressOf(steps: readonly Step[]): string {
  const count = (state: Step['state']) => steps.filter((step) => step.state === state).length;
  const failed = count('failed');
  const needs = failed === 0 ? '' : failed === 1 ? ', and one needs attention' : `, and ${failed} need attention`;
  return `${count('done')} of ${steps.length} steps done${needs}. Each turns green by itself.`;
}

const STATES: Record<Step['state'], string> = { open: 'To do', done: 'Done', failed: 'Needs attention' };

/** Tells screen readers which steps have changed since they were shown first. */
function Changes({ steps }: { steps: readonly Step[] }) {
  const known = useRef(steps);
  const [text, setText] = useState('');
  useEffect(() => {
    const changed = steps.filter(({ step, state }) => known.current.some((each) => each.step === step && each.state !== state));
    known.current = steps;
    if (changed.length > 0) setText(changed.map(({ step, state }) => `${STEP_TITLES[step]}: ${STATES[state]}.`).join(' '));
  }, [steps]);
  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}

function Steps({ website, setup }: { website: Website; setup: Setup }) {
  return (
    <ol className="divide-y divide-line">
      {setup.steps.map((step, index) => (
        <StepRow key={step.step} number={index + 1} step={step}>
          <Actions website={website} setup={setup} step={step} />
        </StepRow>
      ))}
    </ol>
  );
}

function StepRow({ number, step: { step, state, text, fix }, children }: { number: number; step: Step; children: ReactNode }) {
  return (
    <li className="flex gap-3 px-4 py-4 sm:gap-4 sm:px-5">
      <StepMark state={state} number={number} />
      <div className="min-w-0 grow">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <h3 className="text-[0.9375rem] font-medium leading-6">{STEP_TITLES[step]}</h3>
          <p className={cx('text-[0.8125rem] leading-6', TONES[state])}>{STATES[state]}</p>
        </div>
        <p className="text-sm leading-6 text-muted wrap-anywhere">{withCode(text)}</p>
        {fix && (
          <p className="mt-0.5 text-sm leading-6 wrap-anywhere">
            {state === 'failed' && <span className="font-medium">Fix: </span>}
            {withCode(fix)}
          </p>
        )}
        {children}
      </div>
    </li>
  );
}

const TONES: Record<Step['state'], string> = { open: 'text-muted', done: 'text-accent', failed: 'text-danger' };

/** The state as a circle with a number, a check mark or a cross: the color alone is not accessible. */
function StepMark({ state, number }: { state: Step['state']; number: number }) {
  const tones = {
    open: 'border-edge text-muted',
    done: 'border-accent bg-accent text-page forced-colors:text-[CanvasText]',
    failed: 'border-danger bg-danger-tint text-danger',
  };
  return (
    <span
      aria-hidden="true"
      className={cx('grid size-6 shrink-0 place-items-center rounded-full border text-xs font-semibold tabular-nums', tones[state])}
    >
      {state === 'open' && number}
      {state === 'done' && <CheckIcon className="size-3.5" />}
      {state === 'failed' && <CrossIcon className="size-3.5" />}
    </span>
  );
}

function Actions({ website, setup, step: { step, state } }: { website: Website; setup: Setup; step: Step }) {
  const { domain, proof } = website;
  switch (step) {
    case 'link':
      return state !== 'done' && <TextLink href="#code">Show the code</TextLink>;
    case 'callback':
      return <CallbackForm key={setup.callback} website={website} callback={setup.callback} state={state} />;
    case 'sign_in':
      return state !== 'done' && <TextLink href={websitePath(domain, 'log')}>See each step in the log</TextLink>;
    case 'proof':
      return (
        state !== 'done' && (
          <div className="mt-3">
            <Proof domain={domain} proof={proof} onProven={() => toast('Domain verified', website.displayDomain)} />
          </div>
        )
      );
    case 'mail':
      return (
        <div className="flex flex-wrap gap-x-5">
          {hasInbox && (
            <TextLink href={INBOX} isOutside>
              Open the inbox
            </TextLink>
          )}
          <TextLink href={websitePath(domain, 'branding')}>Sender name and logo</TextLink>
        </div>
      );
  }
}

/** A link of a step. @param isOutside it opens a new tab */
function TextLink({ href, isOutside = false, children }: { href: string; isOutside?: boolean; children: string }) {
  const className = '-mb-2 inline-flex min-h-11 items-center gap-1.5 text-sm text-accent underline underline-offset-2';
  if (isOutside)
    return (
      <a href={href} target="_blank" rel="noopener noreferrer" className={className}>
        {children}
        <OpenIcon className="size-4" />
        <span className="sr-only">(in a new tab)</span>
      </a>
    );
  // The router would not scroll to a part of this page.
  const Anchor = href.startsWith('#') ? 'a' : Link;
  return (
    <Anchor href={href} className={className}>
      {children}
    </Anchor>
  );
}

/** Has the service check the callback. @param callback where it was checked last, or would be by default */
function CallbackForm({ website, callback, state }: { website: Website; callback: string; state: Step['state'] }) {
  const isDone = state === 'done';
  const check = useAct('checkCallback', { refreshes: ['websiteSetup'] });
  const here = useIntegration(LOCALHOST).data?.site ?? LOCAL_APP;
  const isHere = URL.canParse(callback) && isThisMachine(new URL(callback).hostname);
  const [typed, setTyped] = useState<string | null>(null);
  // In local mode, the app most often runs on this computer.
  const url =
    typed ?? (isLocalMode && state === 'open' && (!isHere || website.domain === LOCALHOST) ? `${here}${WEBSITE_PATHS.callback}` : callback);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!check.isPending) check.mutate({ id: website.id, url });
  };
  return (
    <form noValidate onSubmit={submit} className="mt-3 grid gap-3">
      {check.error && !check.isPending && <Alert>{errorText(check.error, 'The callback could not be checked.')}</Alert>}
      <div className={cx('flex flex-wrap gap-3', !isDone && 'items-end')}>
        {!isDone && (
          <div className="min-w-0 grow basis-64">
            <Field
              label="Address of the callback"
              name="url"
              inputMode="url"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck="false"
              mono
              value={url}
              onChange={(event) => setTyped(event.target.value)}
            />
          </div>
        )}
        <Button type="submit" variant="secondary" busy={check.isPending}>
          {check.isPending ? 'Checking...' : isDone ? 'Check again' : 'Check'}
        </Button>
      </div>
    </form>
  );
}
