import type { SignInBoot } from '../../../contract/pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { useTranslator } from './texts.ts';

/** The response to a form post that ends outside of these pages. Its header goes on to `url` without the link. */
export function LeavingPage({ target, url }: { target: SignInBoot['target']; url: string }) {
  const { t } = useTranslator();
  const host = target.kind === 'site' ? target.displayHost : '';
  return (
    <Card>
      {host && <TargetLine target={target} portalName="" />}
      <PageHeading title={t('auth.leaving_title')} />
      <p className="mt-2 text-muted">{t('auth.leaving_text')}</p>
      <ButtonLink href={url} className="mt-6 w-full wrap-anywhere">
        {host ? t('auth.leaving_link_host', { host }) : t('auth.leaving_link')}
      </ButtonLink>
    </Card>
  );
}
