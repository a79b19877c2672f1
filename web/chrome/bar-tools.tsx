import { openPalette } from '../lib/palette.ts';
import { shortcut } from '../lib/shortcut.ts';
import { SearchIcon } from '../ui/icons.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { Tooltip } from '../ui/tooltip.tsx';

/** Opens the commands; the keyboard has a shortcut for it. */
export function PaletteButton({ wide = false }: { wide?: boolean }) {
  return (
    <Tooltip text={`Go anywhere: ${shortcut}`}>
      <button
        type="button"
        aria-label="Commands"
        aria-keyshortcuts="Control+K Meta+K"
        aria-haspopup="dialog"
        onClick={openPalette}
        className="flex min-h-11 min-w-11 items-center justify-center gap-2 rounded-control px-3 text-sm text-muted hover:bg-sunk hover:text-ink"
      >
        <SearchIcon />
        {wide && (
          <kbd className="hidden whitespace-nowrap rounded-sm border border-line px-1.5 font-sans text-xs leading-5 md:inline">
            {shortcut}
          </kbd>
        )}
      </button>
    </Tooltip>
  );
}

/** The theme's switch with its tooltip. */
export function ThemeButton({ className = '' }: { className?: string }) {
  return (
    <span className={className}>
      <Tooltip text="Switch between light and dark">
        <ThemeSwitch />
      </Tooltip>
    </span>
  );
}
