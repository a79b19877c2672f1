import { type FormEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import type { ApiError } from '../../../contract/client.ts';
import { ENTERED, ENTERED_METHODS, readEntered } from '../../../contract/entered.ts';
import type { OwnAttempt } from '../../../contract/pages.ts';
import { type Failure, isApiError, translateFailure, useTranslator } from '../../lib/texts.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { useBoot } from './page.ts';
import { formAction, typedBefore, useSteps } from './steps.ts';

const INPUT_MODE = ENTERED_METHODS.every((method) => ENTERED[method].inputMode === 'numeric') ? 'numeric' : 'text';

/** Characters are only ever added at the end, where the boxes show them; a whole selection may be replaced. */
function moveCaretToEnd({ currentTarget: field }: { currentTarget: HTMLInputElement }) {
  const { selectionStart, selectionEnd, value } = field;
  if (selectionStart === selectionEnd && selectionEnd !== value.length) field.setSelectionRange(value.length, value.length);
}

/**
 * The code of the email, sent once it is complete. It is one field below a box for each place, so that paste, one-time-code autofill and
 * screen readers work as with any field. Without a script it is a plain field with a button.
 */
export function CodeForm({
  field,
  attempt: { id: attempt, email, status },
  onCode,
}: {
  field: RefObject<HTMLInputElement | null>;
  attempt: OwnAttempt;
  /** Sends a code. Returns why it was refused. @throws ApiError */
  onCode: (email: string, code: string) => Promise<ApiError | null>;
}) {
  const translator = useTranslator();
  const { t } = translator;
  const id = useId();
  const { failure } = useBoot();
  const [code, setCode] = useState(() => typedBefore('code') ?? failure?.typed ?? '');
  const [checking, setChecking] = useState(false);
  const steps = useSteps();
  const missingOf = (text: string) => {
    const { method, missing } = readEntered(text);
    return t(`auth.${method}_missing`, { count: String(missing) });
  };
  // What is left to a person without the code: the link, unless it was used in another browser.
  const usedElsewhere = status === 'opened_elsewhere';
  const isSpent = status === 'code_spent';
  const textOf = (reason: Failure, spent: boolean) =>
    reason.code === 'rate_limited' && !usedElsewhere
      ? t('auth.code_paused')
      : translateFailure(translator, reason, spent ? 'auth.code_spent' : 'auth.code_wrong');
  const [errorMessage, setError] = useState(() => {
    if (failure?.typed) return missingOf(failure.typed);
    return failure?.form === 'code' ? textOf(failure as Failure, isSpent) : null;
  });
  const shownError = errorMessage ?? (isSpent ? t('auth.code_spent') : null);
  const subject = `${attempt} ${usedElsewhere}`;
  const subjectOfErrors = useRef(subject);

  useEffect(() => {
    // A new email has a new code with its own number of tries, and a link that was used elsewhere does not work any more.
    if (subjectOfErrors.current === subject) return;
    subjectOfErrors.current = subject;
    setError(null);
  }, [subject]);

  const enter = async (text: string, submitted = false) => {
    const { value, typed, missing } = readEntered(text);
    setCode(typed);
    if (value === null) {
      if (missing <= 0) setError(t('auth.code_wrong'));
      else setError(submitted ? missingOf(typed) : null);
      return;
    }
    setError(null);
    setChecking(true);
    const refusal = await onCode(email, value).catch((error): Failure => (isApiError(error) ? error : { code: 'internal' }));
    // The page goes on.
    if (!refusal) return;
    setError(textOf(refusal, isSpent || refusal.triesLeft === 0));
    setCode('');
    setChecking(false);
    field.current?.focus();
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a code that was typed before the script ran
  useEffect(() => {
    if (code) void enter(code);
    // Only with a physical keyboard: that of a phone would cover half the page.
    else if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  useEffect(() => {
    // Into whatever has the focus.
    const paste = ({ target, clipboardData }: ClipboardEvent) => {
      if (target !== field.current && !field.current?.readOnly) void enter(clipboardData?.getData('text') ?? '');
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  });

  const { places } = ENTERED[readEntered(code).method];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!checking) enter(code, true);
  };

  return (
    <form method="post" action={formAction(steps, 'code')} noValidate onSubmit={submit} className="mt-6">
      <input type="hidden" name="email" value={email} />
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {t('auth.code_label')}
      </label>
      <div className="group relative">
        <div
          aria-hidden="true"
          className={cx('grid auto-cols-fr grid-flow-col gap-1.5 no-script:hidden sm:gap-2', checking && 'opacity-50')}
        >
          {Array.from({ length: places }, (_, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: the boxes have no other identity
              key={index}
              className={cx(
                'grid h-12 place-items-center rounded-control border font-mono text-xl',
                shownError ? 'border-danger' : 'border-edge/60',
                index === Math.min(code.length, places - 1) &&
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
          name="code"
          value={code}
          readOnly={checking}
          inputMode={INPUT_MODE}
          autoComplete="one-time-code"
          spellCheck="false"
          aria-invalid={shownError ? true : undefined}
          aria-describedby={`${id}-note`}
          onChange={(event) => enter(event.target.value)}
          onKeyUp={moveCaretToEnd}
          onPointerUp={moveCaretToEnd}
          onFocus={moveCaretToEnd}
          className={cx(
            'absolute inset-0 size-full cursor-text bg-transparent text-center font-mono text-base text-transparent caret-transparent outline-none selection:bg-transparent',
            'no-script:static no-script:h-12 no-script:rounded-control no-script:border no-script:border-edge/60 no-script:text-xl no-script:tracking-widest no-script:text-ink no-script:caret-ink',
          )}
        />
      </div>
      <div id={`${id}-note`} className="mt-1.5 text-sm">
        <div role="alert" className="text-danger">
          {shownError}
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
      <Button type="submit" variant="secondary" className="without-script mt-2 w-full">
        {t('auth.code_submit')}
      </Button>
    </form>
  );
}
