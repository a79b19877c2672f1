import { useEffect, useState } from 'react';
import type { ForwardUrlRule, SignInBoot } from '../../../contract/pages.ts';
import { type TextKey, translateFailure, useTranslator } from '../../lib/texts.ts';
import { paths } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Card, TargetLine } from './card.tsx';
import { useBoot } from './page.ts';

type PageError = NonNullable<SignInBoot['error']>;

/** Errors after which the same request may succeed. */
const TEMPORARY: readonly PageError['code'][] = ['unavailable', 'internal', 'rate_limited'];

function titleOf(code: PageError['code']): TextKey {
  if (TEMPORARY.includes(code)) return 'auth.broken_title';
  return code === 'not_found' ? 'auth.not_found_title' : 'auth.refused_title';
}

/** The response to a request that failed: the page does not exist, could not be read, or a form was refused before it was read. */
export function ErrorPage({ code, reference, retryAfter }: PageError) {
  const translator = useTranslator();
  const { t } = translator;
  const { path, search } = useBoot();
  const [loading, setLoading] = useState(false);
  const mayRepeat = TEMPORARY.includes(code);
  const isOfWebsite = new URLSearchParams(search).has('forward_url');
  return (
    <Card>
      <PageHeading title={t(titleOf(code))} />
      <p role="status" className="mt-2 text-muted">
        {loading && isOfWebsite ? t('auth.validating_domain') : translateFailure(translator, { code, retryAfter }, 'auth.refused_text')}
      </p>
      {reference && <p className="mt-2 font-mono text-[0.8125rem] text-muted wrap-anywhere">{reference}</p>}
      <ButtonLink href={path + search} onClick={() => setLoading(true)} className="mt-6 w-full">
        {t(mayRepeat ? 'auth.try_again' : 'auth.start_again')}
      </ButtonLink>
    </Card>
  );
}

const ruleTexts: Record<ForwardUrlRule, TextKey> = {
  too_long: 'auth.forward_url_too_long',
  characters: 'auth.forward_url_characters',
  not_absolute: 'auth.forward_url_not_absolute',
  not_plain: 'auth.forward_url_not_plain',
  this_machine: 'auth.forward_url_this_machine',
  not_https: 'auth.forward_url_not_https',
  not_domain: 'auth.forward_url_not_domain',
  has_token: 'auth.forward_url_has_token',
  repeated: 'auth.forward_url_repeated',
};

/** A forward_url or another parameter that cannot be used, or a domain that is not registered, with a way back. */
export function Unsupported({ target }: { target: Extract<SignInBoot['target'], { kind: 'unsupported' }> }) {
  const { t } = useTranslator();
  const { reason, displayHost, host, back, rule, domain } = target;
  return (
    <Card>
      {host && <TargetLine target={target} portalName="" />}
      <PageHeading title={t('auth.not_supported_title')} />
      <p className="mt-2 text-muted wrap-anywhere">
        {reason === 'bad_forward_url'
          ? t('auth.error_forward_url')
          : reason === 'not_registered'
            ? t('auth.not_supported_text', { domain: displayHost })
            : t('auth.error_parameter', { name: reason })}
      </p>
      {rule && <p className="mt-2 text-sm text-muted wrap-anywhere">{t(ruleTexts[rule])}</p>}
      {domain && (
        <>
          <p className="mt-2 text-muted wrap-anywhere">{t('auth.not_registered_text', { domain })}</p>
          <ButtonLink href={`${paths.register}?domain=${encodeURIComponent(domain)}`} className="mt-6 w-full wrap-anywhere">
            {t('auth.register_domain', { domain })}
          </ButtonLink>
        </>
      )}
      {back ? (
        <ButtonLink
          variant="secondary"
          href={back}
          rel="noopener noreferrer"
          className={`${domain ? 'mt-2' : 'mt-6'} w-full wrap-anywhere`}
        >
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
