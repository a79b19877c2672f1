import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';

/** What the color dialog begins with when there is no color yet. */
const FIRST_COLOR = '#0b6e58';

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

/** A color as text, and the color dialog of the browser. */
export function ColorField({ value, error, onChange }: { value: string; error: string | null; onChange: (color: string) => void }) {
  const color = value.trim();
  return (
    <div>
      <Field
        label="Color"
        name="accent"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        mono
        placeholder="#0b6e58"
        value={value}
        error={error}
        hint="Of the button. Its text is black or white, whichever is easier to read. Empty: black, or white in the dark theme."
        onChange={(event) => onChange(event.target.value)}
      />
      <div className="mt-2 flex items-center gap-2">
        <input
          type="color"
          aria-label="Choose the color"
          value={isColor(color) ? color : FIRST_COLOR}
          onChange={(event) => onChange(event.target.value)}
          className="h-11 w-16 cursor-pointer rounded-control border border-edge/60 bg-panel p-1 hover:border-edge"
        />
        {value === '' ? (
          <span className="px-1 text-sm text-muted">No color</span>
        ) : (
          <Button variant="quiet" small onClick={() => onChange('')}>
            Remove color
          </Button>
        )}
      </div>
    </div>
  );
}
