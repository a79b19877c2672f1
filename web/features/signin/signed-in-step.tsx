import { paths } from '../../paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { stepUrl, useSteps } from './steps.ts';
import { useTranslator } from './texts.ts';

/** The portal's page in a browser with a session: continues with it, or signs in as somebody else. */
export function SignedInStep({ email }: { email: string }) {
  const { t } = useTranslator();
  const steps = useSteps();
  return (
    <Card>
      <TargetLine target={{ kind: 'portal' }} portalName={t('auth.portal_name')} />
      <PageHeading title={t('auth.signed_in_title', { email })} className="text-xl leading-7 wrap-anywhere" />
      <div className="mt-6 grid gap-2">
        <ButtonLink href={paths.developer}>{t('auth.continue_to_portal')}</ButtonLink>
        <ButtonLink variant="quiet" href={stepUrl(steps, 'address')}>
          {t('auth.use_another_address')}
        </ButtonLink>
      </div>
    </Card>
  );
}
