import { useId } from 'react';
import { cx } from './cx.ts';
import { Descriptions, descriptionsOf } from './field.tsx';

/** Check boxes of which any number may be chosen, as one group. */
export function Choices<Value extends string>({
  label,
  hint,
  error,
  options,
  plain = false,
  chosen,
  onChange,
}: {
  label: string;
  hint?: string;
  error?: string | null;
  options: readonly { value: Value; label: string; hint: string }[];
  /** The labels are names that people chose, not code. */
  plain?: boolean;
  chosen: readonly Value[];
  /** Receives the chosen values in the order of the options. */
  onChange: (chosen: Value[]) => void;
}) {
  const id = useId();
  return (
    <fieldset className="min-w-0" aria-describedby={descriptionsOf(id, { error, hint })}>
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      <ul className={cx('divide-y divide-line rounded-control border', error ? 'border-danger' : 'border-line')}>
        {options.map((option) => (
          <li key={option.value}>
            <label className="flex min-h-11 cursor-pointer items-center gap-3 px-3 py-1.5">
              <input
                type="checkbox"
                checked={chosen.includes(option.value)}
                aria-invalid={error ? true : undefined}
                onChange={({ target }) =>
                  onChange(
                    options.map(({ value }) => value).filter((value) => (value === option.value ? target.checked : chosen.includes(value))),
                  )
                }
                className="size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0 text-sm">
                <span className={plain ? 'wrap-anywhere' : 'font-mono text-[0.8125rem]'}>{option.label}</span>
                <span className="block text-[0.8125rem] text-muted">{option.hint}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Descriptions id={id} error={error} hint={hint} />
    </fieldset>
  );
}
