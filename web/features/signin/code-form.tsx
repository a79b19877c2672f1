import { useEffect, useId, useRef, useState } from 'react';
import { MAX_CODE_TRIES } from '../../../contract/limits.ts';
import { Spinner } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import type { Flow } from './flow.ts';
import { isApiError } from './requests.ts';
import { failureText, useTranslator } from './texts.ts';

const DIGITS = 6;

/** Digits are only ever added at the end, where the boxes show them; a whole selection may be replaced. */
function moveCaretToEnd({ currentTarget: field }: { currentTarget: HTMLInputElement }) {
  const { selectionStart, selectionEnd, value } = field;
  if (selectionStart === selectionEnd && selectionEnd !== value.length) field.setSelectionRange(value.length, value.length);
}

/**
 * The six digits of the email, sent at the sixth. It is one field below six boxes, so that paste, one-time-code autofill and
 * screen readers work as with any field.
 */
export function CodeForm({
  flow,
  email,
  emailCount,
  onAccepted,
}: {
  flow: Flow;
  email: string;
  emailCount: number;
  onAccepted: () => void;
}) {
  const translator = useTranslator();
  const { t } = translator;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [code, setCode] = useState('');
  const [checking, setChecking] = useState(false);
  const [errorMessage, setError] = useState<string | null>(null);
  const wrongCodes = useRef(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new email has a new code with its own number of tries
  useEffect(() => {
    wrongCodes.current = 0;
    setError(null);
  }, [emailCount]);

  const enter = async (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, DIGITS);
    setCode(digits);
    if (digits.length < DIGITS) return;
    setError(null);
    setChecking(true);
    try {
      const destination = await flow.enterCode(email, digits);
      onAccepted();
      location.assign(destination);
    } catch (error) {
      const wrong = isApiError(error) && error.code === 'bad_code';
      if (wrong) wrongCodes.current += 1;
      const paused = isApiError(error) && error.code === 'rate_limited';
      const fallback = wrong && wrongCodes.current >= MAX_CODE_TRIES ? 'auth.code_spent' : 'auth.code_wrong';
      setError(paused ? t('auth.code_paused') : failureText(translator, error, fallback));
      setCode('');
      setChecking(false);
      field.current?.focus();
    }
  };

  return (
    <div className="mt-6">
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {t('auth.code_label')}
      </label>
      <div className="group relative">
        <div aria-hidden="true" className={cx('grid grid-cols-6 gap-1.5 sm:gap-2', checking && 'opacity-50')}>
          {Array.from({ length: DIGITS }, (_, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: the boxes have no other identity
              key={index}
              className={cx(
                'grid h-12 place-items-center rounded-control border font-mono text-xl',
                errorMessage ? 'border-danger' : 'border-edge/60',
                index === Math.min(code.length, DIGITS - 1) &&
                  'group-focus-within:border-accent group-focus-within:outline-2 group-focus-within:-outline-offset-1 group-focus-within:outline-accent',
              )}
            >
              {code[index]}
            </span>
          ))}
        </div>
        <input
          ref={field}
          id={id}
          value={code}
          readOnly={checking}
          inputMode="numeric"
          autoComplete="one-time-code"
          spellCheck="false"
          aria-invalid={errorMessage ? true : undefined}
          aria-describedby={`${id}-note`}
          onChange={(event) => enter(event.target.value)}
          onKeyUp={moveCaretToEnd}
          onPointerUp={moveCaretToEnd}
          onFocus={moveCaretToEnd}
          className="absolute inset-0 size-full cursor-text bg-transparent text-center font-mono text-base text-transparent caret-transparent outline-none selection:bg-transparent"
        />
      </div>
      <div id={`${id}-note`} className="mt-1.5 text-sm">
        <div role="alert" className="text-danger">
          {errorMessage}
        </div>
        <div role="status" className="text-muted">
          {checking && (
            <span className="flex items-center gap-2">
              <Spinner />
              {t('auth.code_checking')}
            </span>
          )}
        </div>
      </div>
    </div>
  );
}
