import { useTranslator } from '../../lib/texts.ts';

const style = 'inline-flex min-h-11 items-center text-left text-sm font-medium text-accent underline wrap-anywhere';

/**
 * Asks whether a person meant an address with a large mail domain. It stops nothing.
 * @param href without a script: the page on which the address is filled in
 */
export function Suggestion({ email, href, onAccept }: { email: string; href?: string; onAccept: () => void }) {
  const { t } = useTranslator();
  const label = t('auth.did_you_mean', { domain: email.slice(email.lastIndexOf('@') + 1) });
  if (href === undefined)
    return (
      <button type="button" className={style} onClick={onAccept}>
        {label}
      </button>
    );
  return (
    <a
      href={href}
      className={style}
      onClick={(event) => {
        event.preventDefault();
        onAccept();
      }}
    >
      {label}
    </a>
  );
}
