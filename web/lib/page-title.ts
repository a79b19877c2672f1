let shown = false;

/** Whether a page was shown before in this tab's life of the app; the first one leaves the focus where the browser has it. */
export function markPageShown(): boolean {
  const before = shown;
  shown = true;
  return before;
}
