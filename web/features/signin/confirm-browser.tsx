import { type FormEvent, type ReactNode, useState } from 'react';
import { api } from '../../lib/api.ts';
import { readPkce } from '../../lib/pkce-store.ts';
import { paths, safePath } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { EmailField } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { useBoot } from './boot.ts';
import { Card } from './card.tsx';
import { deleteRefusal, type Refusal } from './refusal.ts';
import { isAddressError, isApiError } from './requests.ts';
import { failureText, useTranslator } from './texts.ts';

/**
 * A mailed link in a browser whose request for an email was refused: the link, even if someone else requested it, proves that
 * the mailbox is the person's. Renders `children`, the page of the link, when the person skips this or when this browser
 * began the sign-in.
 */
export function ConfirmBrowser({ refusal, children }: { refusal: Refusal; children: ReactNode }) {
  const translator = useTranslator();
  const { t, language } = translator;
  const query = new URLSearchParams(useBoot().search);
  const secret = query.get('t') ?? query.get('code');
  const [skipped, setSkipped] = useState(() => !secret || typeof readPkce(query.get('state') ?? '') !== 'string');
  const [email, setEmail] = useState(refusal.email);
  const [errorMessage, setError] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  if (skipped || !secret) return children;

  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    setError(null);
    setSending(true);
    try {
      await api.confirmBrowser({ t: secret, email });
      deleteRefusal();
      location.replace(safePath(refusal.back, paths.signIn));
    } catch (error) {
      setSending(false);
      setError(
        isApiError(error) && isAddressError(error) ? t('auth.browser_wrong') : failureText(translator, error, 'auth.error_unavailable'),
      );
    }
  };

  return (
    <Card>
      <PageHeading title={t('auth.browser_title')} />
      <p className="mt-2 text-muted">{t('auth.browser_text')}</p>
      <form noValidate onSubmit={confirm} className="mt-6 grid gap-4" lang={language}>
        <EmailField label={t('auth.email_label')} value={email} error={errorMessage} onChange={(event) => setEmail(event.target.value)} />
        <Button type="submit" busy={sending} className="w-full">
          {t('auth.browser_button')}
        </Button>
      </form>
      <Button variant="quiet" className="mt-2 w-full" onClick={() => setSkipped(true)}>
        {t('auth.browser_skip')}
      </Button>
    </Card>
  );
}
