import { useEffect, useRef, useState } from 'react';
import { normalEmail } from '../../../contract/rules.ts';
import { type PkceBundle, readPkce } from '../../lib/pkce-store.ts';
import { paths } from '../../paths.ts';
import { Button, ButtonLink, Spinner } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { toastFailure } from '../../ui/toast.tsx';
import { useBoot } from './boot.ts';
import { Card, TargetLine } from './card.tsx';
import { exchange } from './flow.ts';
import { LinkPage, OtherBrowser } from './link-page.tsx';
import { useTranslator } from './texts.ts';

type Callback = { code: string; bundle: PkceBundle } | 'missing' | 'wrong_state';

function readCallback(search: string): Callback {
  const query = new URLSearchParams(search);
  const code = query.get('code');
  const state = query.get('state');
  if (!code || !state) return 'missing';
  const bundle = readPkce(state);
  return typeof bundle === 'string' ? bundle : { code, bundle };
}

/** /auth/callback, the target of the portal's mailed link: step 3 completes the sign-in that this browser began. */
export function CallbackPage({ onStartAgain }: { onStartAgain: () => void }) {
  const { t } = useTranslator();
  const { search, target, link } = useBoot();
  // Only this browser knows whether it began the sign-in.
  const [callback, setCallback] = useState<Callback | null>(null);
  useEffect(() => setCallback(readCallback(search)), [search]);
  if (link && link.state !== 'other_browser') return <LinkPage target={target} link={link} />;
  if (link && (callback === null || typeof callback === 'string'))
    return <OtherBrowser target={target} title={callback === 'wrong_state' ? 'auth.callback_wrong_state' : 'auth.callback_missing'} />;
  if (typeof callback !== 'string') return <Completing callback={callback} onStartAgain={onStartAgain} />;
  const missing = callback === 'missing';
  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t(missing ? 'auth.callback_missing' : 'auth.callback_wrong_state')} />
      <p role="alert" className="mt-2 text-muted">
        {t(missing ? 'auth.callback_missing_text' : 'auth.callback_wrong_state_text')}
      </p>
      <Button className="mt-6 w-full" onClick={onStartAgain}>
        {t('auth.start_again')}
      </Button>
    </Card>
  );
}

function Completing({ callback, onStartAgain }: { callback: Exclude<Callback, string> | null; onStartAgain: () => void }) {
  const { t } = useTranslator();
  const email = normalEmail(String(callback?.bundle.email ?? ''));
  const cancelled = useRef(new AbortController());
  const failed = useRef(() => {});
  failed.current = () => {
    onStartAgain();
    toastFailure(t('auth.callback_failed'), t('auth.callback_failed_text'));
  };

  useEffect(() => {
    if (!callback) return;
    const { signal } = cancelled.current;
    exchange(callback.code, callback.bundle, signal).then(
      (path) => signal.aborted || location.replace(path),
      () => signal.aborted || failed.current(),
    );
  }, [callback]);

  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.confirm_title')} />
      <p className="mt-2 text-muted wrap-anywhere">{email ? t('auth.confirm_portal_as', { email }) : t('auth.confirm_portal')}</p>
      <p role="status" className="mt-4 flex items-center gap-2 text-sm text-muted">
        <Spinner />
        {t('auth.signing_in')}
      </p>
      <ButtonLink href={paths.developer} className="mt-6 w-full">
        {t('auth.continue_to_portal')}
      </ButtonLink>
      <Button
        variant="quiet"
        className="mt-2 w-full"
        onClick={() => {
          cancelled.current.abort();
          onStartAgain();
        }}
      >
        {t('auth.cancel')}
      </Button>
    </Card>
  );
}
