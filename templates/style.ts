/**
 * The style of every page that an integration serves itself; it replaces `__STYLE__`. System colors follow the theme of the visitor and
 * forced colors. It goes into string literals of six languages: no quotation marks, `$`, `%`, `\` or `#`.
 */
export const PAGE_STYLE = `<style>
:root {
  color-scheme: light dark;
  font: 1.0625rem/1.6 system-ui, sans-serif;
}
body {
  max-width: 24rem;
  margin: 0 auto;
  padding: 16vh 1.25rem 3rem;
  overflow-wrap: anywhere;
}
a {
  display: inline-block;
  padding: 0.5rem 0;
  color: inherit;
}
button {
  min-height: 2.75rem;
  padding: 0 1.25rem;
  border: 1px solid CanvasText;
  border-radius: 0.5rem;
  background: CanvasText;
  color: Canvas;
  font: inherit;
}
</style>`;
