import { type InputHTMLAttributes, type ReactNode, type Ref, type SelectHTMLAttributes, useId } from 'react';
import { cx } from './cx.ts';
import { DownIcon } from './icons.tsx';

type Texts = {
  hint?: string;
  /** True: it is not valid, which another text explains. */
  error?: string | true | null;
  /** What was done with the input, which screen readers announce. */
  note?: ReactNode;
};

type FieldProps = InputHTMLAttributes<HTMLInputElement> &
  Texts & {
    label: string;
    mono?: boolean;
    /** For several lines: how many are shown. */
    rows?: number;
    ref?: Ref<HTMLInputElement>;
  };

/** The texts below a field. @param id of the field */
export function Descriptions({ id, error, note, hint }: Texts & { id: string }) {
  return (
    <>
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
    </>
  );
}

/** Returns the ids of the texts below a field that screen readers read with it, for aria-describedby. */
export const descriptionsOf = (id: string, { error, hint }: Texts): string | undefined =>
  [typeof error === 'string' && error !== '' && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;

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
  const Input = (rest.rows ? 'textarea' : 'input') as 'input';
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {label}
      </label>
      <Input
        {...rest}
        ref={ref}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={descriptionsOf(id, { error, hint })}
        className={cx(
          // iOS zooms in on text smaller than 16 px.
          'block w-full min-w-0 rounded-control border bg-panel px-3 text-base outline-offset-0 transition-colors read-only:bg-sunk read-only:text-muted',
          rest.rows ? 'py-2' : 'h-11',
          error ? 'border-danger' : 'border-edge/60 hover:border-edge',
          mono && 'font-mono sm:text-[0.9375rem]',
        )}
      />
      <Descriptions id={id} error={error} note={note} hint={hint} />
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
          aria-describedby={descriptionsOf(id, { hint })}
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
      <Descriptions id={id} hint={hint} />
    </div>
  );
}
