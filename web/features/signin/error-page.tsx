import { useState } from 'react';
import type { SignInBoot } from '../../../contract/pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { useBoot } from './boot.ts';
import { Card } from './card.tsx';
import { type TextKey, textOfFailure, useTranslator } from './texts.ts';

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
        {loading && isOfWebsite ? t('auth.validating_domain') : textOfFailure(translator, { code, retryAfter }, 'auth.refused_text')}
      </p>
      {reference && <p className="mt-2 font-mono text-[0.8125rem] text-muted wrap-anywhere">{reference}</p>}
      <ButtonLink href={path + search} onClick={() => setLoading(true)} className="mt-6 w-full">
        {t(mayRepeat ? 'auth.try_again' : 'auth.start_again')}
      </ButtonLink>
    </Card>
  );
}
