import { type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react';
import { cx } from './cx.ts';
import { DownIcon } from './icons.tsx';

type FieldProps = InputHTMLAttributes<HTMLInputElement> & {
  label: string;
  hint?: string;
  /** True: it is not valid, which another text explains. */
  error?: string | true | null;
  mono?: boolean;
  /** What was done with the input, which screen readers announce. */
  note?: ReactNode;
  ref?: Ref<HTMLInputElement>;
};

/** A required field for an email address. */
export const EmailField = (props: FieldProps) => (
  <Field type="email" name="email" required autoComplete="email" autoCapitalize="none" spellCheck="false" {...props} />
);

/** A required field for a domain. */
export const DomainField = (props: FieldProps) => (
  <Field name="domain" required autoComplete="off" autoCapitalize="none" spellCheck="false" inputMode="url" {...props} />
);

/** A text field with its label. Screen readers read the hint and the error with it. */
export function Field({ label, hint, error, note, mono = false, ref, ...rest }: FieldProps) {
  const id = useId();
  const described = [typeof error === 'string' && error !== '' && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
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
          // iOS zooms in on text smaller than 16 px.
          'block h-11 w-full min-w-0 rounded-control border bg-panel px-3 text-base outline-offset-0 transition-colors read-only:bg-sunk read-only:text-muted',
          error ? 'border-danger' : 'border-edge/60 hover:border-edge',
          mono && 'font-mono text-[0.9375rem]',
        )}
      />
      {typeof error === 'string' && error !== '' && (
        <p id={`${id}-error`} role="alert" className="mt-1.5 text-sm text-danger">
          {error}
        </p>
      )}
      {note && (
        <p role="status" className="mt-1.5 text-sm wrap-anywhere">
          {note}
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

/** A field for several lines of code, with its label. Screen readers read the hint and the error with it. */
export function TextArea({
  label,
  hint,
  error,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { label: string; hint: string; error?: string | null }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {label}
      </label>
      <textarea
        {...rest}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={`${error ? `${id}-error ` : ''}${id}-hint`}
        className={cx(
          'block w-full min-w-0 rounded-control border bg-panel px-3 py-2 font-mono text-base outline-offset-0 sm:text-[0.9375rem]',
          error ? 'border-danger' : 'border-edge/60 hover:border-edge',
        )}
      />
      {error && (
        <p id={`${id}-error`} role="alert" className="mt-1.5 text-sm text-danger">
          {error}
        </p>
      )}
      <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
        {hint}
      </p>
    </div>
  );
}

/**
 * A native select with its label and hint.
 * @param hideLabel only screen readers get the label, where the options explain themselves
 * @param options of the same group; `children` are elements for options in groups
 */
export function Select<Value extends string>({
  label,
  hideLabel,
  hint,
  options = [],
  children,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & {
  label: string;
  hideLabel?: boolean;
  hint?: string;
  options?: readonly { value: Value; label: string }[];
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'mb-1.5 block text-sm font-medium'}>
        {label}
      </label>
      <div className="relative">
        <select
          {...rest}
          id={id}
          aria-describedby={hint ? `${id}-hint` : undefined}
          className="block h-11 w-full min-w-0 appearance-none rounded-control border border-edge/60 bg-panel pr-9 pl-3 text-base hover:border-edge"
        >
          {children}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <DownIcon className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-muted" />
      </div>
      {hint && (
        <p id={`${id}-hint`} className="mt-1.5 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}
