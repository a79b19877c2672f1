import { type SelectHTMLAttributes, useId } from 'react';
import { DownIcon } from './icons.tsx';

/** A labelled native select. */
export function Select<Value extends string>({
  label,
  options,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { label: string; options: readonly { value: Value; label: string }[] }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-sm font-medium">
        {label}
      </label>
      <div className="relative">
        <select
          {...rest}
          id={id}
          className="block h-11 w-full min-w-0 appearance-none rounded-control border border-edge/60 bg-panel pr-9 pl-3 text-base hover:border-edge"
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <DownIcon className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-muted" />
      </div>
    </div>
  );
}
