import { type FormEvent, type ReactNode, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { call } from '../../lib/call.ts';
import { useTranslator } from '../../lib/i18n.ts';
import { recallPkce } from '../../lib/pkce-store.ts';
import { dropRefusal, type Refusal } from '../../lib/refusal.ts';
import { safePath } from '../../lib/safe-path.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card } from './card.tsx';
import { failureText, isAddressFault } from './failure-text.ts';

/**
 * A mailed link in a browser that was refused a mail: whoever asked for this one, it shows that the mailbox is the person's. Shows
 * `children`, the link's own page, when the person chooses so, or when this browser began the sign-in itself.
 */
export function ConfirmBrowser({ refusal, children }: { refusal: Refusal; children: ReactNode }) {
  const translator = useTranslator();
  const { t, language } = translator;
  const [query] = useState(() => new URLSearchParams(location.search));
  const secret = query.get('t') ?? query.get('code');
  const [skipped, setSkipped] = useState(() => !secret || typeof recallPkce(query.get('state') ?? '') !== 'string');
  const [email, setEmail] = useState(refusal.email);
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  if (skipped || !secret) return children;

  const confirm = async (event: FormEvent) => {
    event.preventDefault();
    if (sending) return;
    setFault(null);
    setSending(true);
    try {
      await call<'confirmBrowser'>('POST', '/api/auth/confirm-browser', { t: secret, email });
      dropRefusal();
      location.replace(safePath(refusal.back, paths.signIn));
    } catch (error) {
      setSending(false);
      const wrong = (error instanceof ApiError && error.code === 'bad_link') || isAddressFault(error);
      setFault(wrong ? t('auth.browser_wrong') : failureText(translator, error, 'auth.error_unavailable'));
    }
  };

  return (
    <Card>
      <PageHeading title={t('auth.browser_title')} />
      <p className="mt-2 text-muted">{t('auth.browser_text')}</p>
      <form noValidate onSubmit={confirm} className="mt-6 grid gap-4" lang={language}>
        <Field
          label={t('auth.email_label')}
          type="email"
          name="email"
          required
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          value={email}
          error={fault}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Button type="submit" busy={sending} className="w-full">
          {t('auth.browser_button')}
        </Button>
      </form>
      <Button look="quiet" className="mt-2 w-full" onClick={() => setSkipped(true)}>
        {t('auth.browser_skip')}
      </Button>
    </Card>
  );
}
