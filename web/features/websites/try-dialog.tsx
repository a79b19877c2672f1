import { type RefObject, useRef, useState } from 'react';
import { Link } from 'wouter';
import { type LanguageCode, languages } from '../../../contract/languages.ts';
import { registeredPath } from '../../paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { OpenIcon } from '../../ui/icons.tsx';
import { faultOfForwardUrl, homeOf, signInUrl, type Website } from './website.ts';

/** Builds the sign-in address of a website, to copy or to open. */
export function TryDialog({ website, onClose }: { website: Website; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog title={`Test sign-in of ${website.displayDomain}`} first={field} onClose={onClose}>
      <TryForm website={website} field={field} onCancel={onClose} />
    </Dialog>
  );
}

/** @param field receives the field of the forward_url @param onCancel undefined: not in a dialog */
export function TryForm({
  website: { domain, displayDomain },
  field,
  onCancel,
}: {
  website: Website;
  field: RefObject<HTMLInputElement | null>;
  onCancel?: () => void;
}) {
  const [forwardUrl, setForwardUrl] = useState(() => homeOf(domain));
  const [language, setLanguage] = useState<LanguageCode>('en');
  const fault = faultOfForwardUrl(forwardUrl, domain);
  const url = signInUrl(location.origin, forwardUrl, language);

  const open = fault ? (
    <Button onClick={() => field.current?.focus()}>Open sign-in page</Button>
  ) : (
    <ButtonLink href={url} target="_blank" rel="noopener">
      Open sign-in page
      <OpenIcon />
      <span className="sr-only">(in a new tab)</span>
    </ButtonLink>
  );
  return (
    <div className="grid gap-5">
      <p className="text-[0.9375rem] text-muted">
        Sign in as a visitor would. The link in the email returns to the address below with a{' '}
        <code className="font-mono text-sm">token</code> parameter, which your site then verifies, once and within an hour.
      </p>
      <Field
        ref={field}
        label="Return to (forward_url)"
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        mono
        value={forwardUrl}
        error={fault}
        onChange={(event) => setForwardUrl(event.target.value)}
      />
      <Select
        label="Language"
        value={language}
        onChange={(event) => setLanguage(event.target.value as LanguageCode)}
        options={languages.map(({ code, name }) => ({ value: code, label: name }))}
      />
      {!fault && <CodeBlock label="Sign-in URL" code={url} />}
      <p className="text-sm text-muted">
        Not there yet?{' '}
        <Link href={registeredPath(domain)} className="text-accent underline underline-offset-2">
          The three steps for {displayDomain}
        </Link>
        , with code to copy.
      </p>
      {onCancel ? <DialogButtons onCancel={onCancel}>{open}</DialogButtons> : <div>{open}</div>}
    </div>
  );
}
