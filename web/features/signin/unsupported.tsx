import { useEffect, useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { useTranslator } from './texts.ts';

/** A forward_url that cannot be used or whose domain is not registered, with a way back. */
export function Unsupported({ target }: { target: Extract<SignInBoot['target'], { kind: 'unsupported' }> }) {
  const { t } = useTranslator();
  const { reason, displayHost, host, back } = target;
  return (
    <Card>
      {host && <TargetLine target={target} portalName="" />}
      <PageHeading title={t('auth.not_supported_title')} />
      <p className="mt-2 text-muted wrap-anywhere">
        {reason === 'bad_forward_url' ? t('auth.error_forward_url') : t('auth.not_supported_text', { domain: displayHost })}
      </p>
      {back ? (
        <ButtonLink variant="secondary" href={back} rel="noopener noreferrer" className="mt-6 w-full wrap-anywhere">
          {t('auth.back_to_site', { url: back })}
        </ButtonLink>
      ) : (
        <GoBack />
      )}
    </Card>
  );
}

/** Returns to the page before this one, where there is one: no address of it can be shown. */
function GoBack() {
  const { t } = useTranslator();
  const [possible, setPossible] = useState(false);
  useEffect(() => setPossible(history.length > 1), []);
  if (!possible) return null;
  return (
    <Button variant="secondary" className="mt-6 w-full" onClick={() => history.back()}>
      <BackIcon />
      {t('auth.go_back')}
    </Button>
  );
}
