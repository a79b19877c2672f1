import { type InputHTMLAttributes, type Ref, useId } from 'react';
import { cx } from './cx.ts';

/** A labelled text field; its hint and its error are tied to it for screen readers. */
export function Field({
  label,
  hint,
  error,
  mono = false,
  ref,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & {
  label: string;
  hint?: string;
  error?: string | null;
  mono?: boolean;
  ref?: Ref<HTMLInputElement>;
}) {
  const id = useId();
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {label}
      </label>
      <input
        {...rest}
        ref={ref}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
        className={cx(
          // 16 px: anything smaller makes iOS zoom in.
          'block h-11 w-full min-w-0 rounded-control border bg-panel px-3 text-base outline-offset-0 transition-colors read-only:bg-sunk read-only:text-muted',
          error ? 'border-danger' : 'border-edge/60 hover:border-edge',
          mono && 'font-mono text-[0.9375rem]',
        )}
      />
      {error && (
        <p id={`${id}-error`} role="alert" className="mt-1.5 text-sm text-danger">
          {error}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}
