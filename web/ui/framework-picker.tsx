import { useId } from 'react';
import { frameworks } from '../../templates/catalog.ts';
import { chooseFramework, useFramework } from '../lib/templates.ts';
import { Select } from './select.tsx';

const options = frameworks.map(({ id, name }) => ({ value: id, label: name }));

/** Chooses the framework that snippets and prompts are shown for: radio buttons, or a select where they would fill the screen. */
export function FrameworkPicker() {
  const group = useId();
  const { id: chosen } = useFramework();
  return (
    <>
      <div className="sm:hidden">
        <Select label="Framework" options={options} value={chosen} onChange={(event) => chooseFramework(event.target.value)} />
      </div>
      <fieldset className="hidden sm:block">
        <legend className="mb-2 text-sm font-medium">Framework</legend>
        <div className="flex flex-wrap gap-1.5">
          {options.map(({ value, label }) => (
            <label
              key={value}
              className="flex min-h-11 cursor-pointer items-center rounded-control border border-line bg-panel px-3 text-sm text-muted transition-colors hover:border-edge hover:text-ink has-checked:border-accent has-checked:bg-tint has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name={group}
                value={value}
                checked={value === chosen}
                onChange={() => chooseFramework(value)}
                className="sr-only"
              />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
    </>
  );
}
