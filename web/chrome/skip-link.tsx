/** Where a shell's content begins. */
export const CONTENT = 'content';

/** The first thing the keyboard meets on a page: past the bar, to the content. */
export function SkipLink() {
  return (
    <a
      href={`#${CONTENT}`}
      className="fixed top-2 left-2 z-50 flex min-h-11 -translate-y-20 items-center rounded-control border border-line bg-panel px-4 text-sm font-medium shadow-raised focus:translate-y-0"
    >
      Skip to content
    </a>
  );
}
