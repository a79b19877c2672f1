import { useRef, useState } from 'react';
import { api } from '../../lib/api.ts';
import { typedBefore } from '../../lib/typed.ts';
import { paths, safePath } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AddressForm } from './address-form.tsx';
import { useBoot } from './boot.ts';
import { Card } from './card.tsx';
import { useFormErrors } from './steps.ts';
import { type OwnTexts, useTranslator } from './texts.ts';

const ownTexts: OwnTexts = { bad_link: 'auth.browser_wrong' };

/**
 * An emailed link in a browser whose request for an email was refused: the link, even if someone else requested it, proves that
 * the mailbox is the person's. A person who skips this sees the page of the link.
 * @param back the page that requested the email
 */
export function ConfirmBrowser({ email: refused, back }: { email: string; back: string }) {
  const { t } = useTranslator();
  const { search, failure } = useBoot();
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState(() => typedBefore('email') ?? failure?.typed ?? refused);
  const errors = useFormErrors('browser', 'auth.error_unavailable', ownTexts);
  const action = `${paths.signIn}/browser${search}`;

  const confirm = async (address: string) => {
    const query = new URLSearchParams(search);
    await api.confirmBrowser({ t: query.get('t') ?? query.get('code') ?? '', email: address });
    location.replace(safePath(back, paths.signIn));
  };

  return (
    <Card>
      <PageHeading title={t('auth.browser_title')} />
      <p className="mt-2 text-muted">{t('auth.browser_text')}</p>
      <AddressForm
        action={action}
        errors={errors}
        field={field}
        email={email}
        placeholder={t('auth.email_placeholder')}
        labels={[t('auth.browser_button'), t('auth.browser_button')]}
        fallback="auth.error_unavailable"
        ownTexts={ownTexts}
        onChange={setEmail}
        onSend={confirm}
      />
      <form method="post" action={action} className="mt-2">
        <Button type="submit" variant="quiet" name="skip" value="1" className="w-full">
          {t('auth.browser_skip')}
        </Button>
      </form>
    </Card>
  );
}
