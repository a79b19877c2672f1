import { Switch as Radix } from 'radix-ui';
import { useId } from 'react';

/** A setting that is on or off; screen readers read the hint with it. */
export function Switch({
  label,
  hint,
  checked,
  onChange,
}: {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div>
      <div className="flex min-h-11 items-center justify-between gap-4 text-sm font-medium">
        <label htmlFor={id} className="flex min-h-11 grow cursor-pointer items-center">
          {label}
        </label>
        <Radix.Root
          id={id}
          checked={checked}
          onCheckedChange={onChange}
          aria-describedby={`${id}-hint`}
          className="group grid size-11 shrink-0 cursor-pointer place-items-center rounded-full"
        >
          <span className="relative block h-6 w-11 rounded-full bg-edge transition-colors group-data-[state=checked]:bg-accent forced-colors:border forced-colors:bg-[Canvas] forced-colors:group-data-[state=checked]:bg-[Highlight]">
            <Radix.Thumb className="absolute top-0.5 left-0.5 block size-5 rounded-full bg-panel transition-transform data-[state=checked]:translate-x-5 forced-colors:top-px forced-colors:left-px forced-colors:bg-[CanvasText] forced-colors:data-[state=checked]:bg-[HighlightText]" />
          </span>
        </Radix.Root>
      </div>
      <p id={`${id}-hint`} className="text-sm text-muted">
        {hint}
      </p>
    </div>
  );
}
