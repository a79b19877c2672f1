import { Fragment, useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { latestAddress, local, readStored, writeStored } from '../lib/storage.ts';
import { paths } from '../pages.ts';
import { Dialog } from '../ui/dialog.tsx';
import { openPalette, openShortcuts, paletteKeys } from './open-overlay.ts';

/** The pages of the portal that `g` and a letter open. */
const PLACES = {
  o: { label: 'Overview', href: paths.dashboard },
  w: { label: 'Websites', href: paths.websites },
  a: { label: 'Applications', href: paths.applications },
  l: { label: 'Activity', href: paths.activity },
  s: { label: 'Settings', href: paths.settings },
  h: { label: 'Developer Home', href: paths.developer },
} as const;

/** The time in which the letter follows the `g`. */
const SEQUENCE_MS = 1500;
let goPressedAt = Number.NEGATIVE_INFINITY;

const STORED = 'shortcuts';
const areOn = () => readStored(local, STORED) !== 'off';

/** Runs the shortcut of a key that was pressed outside of fields, menus and dialogs. */
export function runShortcut({ key, code, timeStamp, target }: KeyboardEvent) {
  if (key.startsWith('Arrow')) return moveInList(target, key === 'ArrowDown' ? 1 : -1);
  if (!areOn()) return;
  if (key === '?') return openShortcuts();
  if (key === '/') return focusSearch();
  // Keyboards of other scripts have the letters at the same places.
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : code.replace(/^Key/, '').toLowerCase();
  const follows = timeStamp - goPressedAt < SEQUENCE_MS;
  goPressedAt = letter === 'g' && !follows ? timeStamp : Number.NEGATIVE_INFINITY;
  if (follows && letter in PLACES && latestAddress()) navigate(PLACES[letter as keyof typeof PLACES].href);
}

/** Focuses the search of the page, or opens the commands where it has none. */
function focusSearch() {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (!field) return openPalette();
  field.focus();
  field.select();
}

/** Moves the focus from a row of a list to the next or the previous one. */
function moveInList(target: EventTarget | null, by: 1 | -1): void {
  const list = target instanceof Element ? target.closest('[data-rows]') : null;
  if (!list) return;
  const rows = [...list.querySelectorAll('li, tbody tr')].flatMap((row) => {
    const first = row.querySelector<HTMLElement>('a[href], button, summary');
    return first ? [{ row, first }] : [];
  });
  const current = rows.findLastIndex(({ row }) => row.contains(target as Element));
  rows[current + by]?.first.focus();
}

/** The list of keyboard shortcuts, which it switches off: speech input and some assistive devices press single keys. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areOn);
  const toggle = () => {
    writeStored(local, STORED, isOn ? 'off' : null);
    setOn(!isOn);
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <table className="w-full text-sm">
        <caption className="sr-only">What the keys do</caption>
        <tbody className="divide-y divide-line">
          <Row keys={paletteKeys().split(' ')} text="Commands: every page, website and action" />
          <Row keys={['↑', '↓']} text="The previous or next row of a list" />
          <Row keys={['?']} text="These shortcuts" isOff={!isOn} />
          <Row keys={['/']} text="Search this page" isOff={!isOn} />
          {Object.entries(PLACES).map(([letter, { label }]) => (
            <Row key={letter} keys={['g', letter]} text={label} isOff={!isOn} />
          ))}
        </tbody>
      </table>
      <label className="mt-3 flex min-h-11 cursor-pointer items-center gap-3 text-sm">
        <input type="checkbox" checked={isOn} onChange={toggle} className="size-4 accent-accent" />
        Shortcuts of single keys
      </label>
    </Dialog>
  );
}

function Row({ keys, text, isOff = false }: { keys: readonly string[]; text: string; isOff?: boolean }) {
  return (
    <tr className={isOff ? 'text-muted line-through' : ''}>
      <th scope="row" className="py-2 pr-4 text-left font-normal">
        {text}
      </th>
      <td className="py-2 text-right whitespace-nowrap">
        {keys.map((key, index) => (
          <Fragment key={key}>
            {index > 0 && ' '}
            <kbd className="inline-block min-w-6 rounded-sm border border-line px-1.5 text-center font-mono text-xs leading-6">{key}</kbd>
          </Fragment>
        ))}
      </td>
    </tr>
  );
}
