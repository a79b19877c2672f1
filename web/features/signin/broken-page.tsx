import { useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { useBoot } from './boot.ts';
import { Card } from './card.tsx';
import { useTranslator } from './texts.ts';

/** A page that the service could not read, because its database is not available or by an error of its own. */
export function BrokenPage({ code, reference }: NonNullable<SignInBoot['broken']>) {
  const { t } = useTranslator();
  const { path, search } = useBoot();
  const [loading, setLoading] = useState(false);
  const ofWebsite = new URLSearchParams(search).has('forward_url');
  return (
    <Card>
      <PageHeading title={t('auth.broken_title')} />
      <p role="status" className="mt-2 text-muted">
        {loading && ofWebsite ? t('auth.validating_domain') : t(code === 'unavailable' ? 'auth.error_unavailable' : 'auth.error_internal')}
      </p>
      {reference && <p className="mt-2 font-mono text-[0.8125rem] text-muted wrap-anywhere">{reference}</p>}
      <ButtonLink href={path + search} onClick={() => setLoading(true)} className="mt-6 w-full">
        {t('auth.try_again')}
      </ButtonLink>
    </Card>
  );
}
