/** The panels of the pages, in the light and the dark theme, as in web/ui/theme.css. */
const PANELS = { light: '#ffffff', dark: '#161918' };
/** The contrast that WCAG 2.2 requires of the boundary of a control (1.4.11). */
const MIN_BOUNDARY_CONTRAST = 3;

/** Returns why a text cannot be an accent color, or null. Empty means none. */
export const accentFault = (text: string) => (text === '' || /^#[0-9a-f]{6}$/i.test(text) ? null : 'A color such as #0b6e58');

/** The colors of a button with an accent color. */
type ButtonColors = {
  fill: string;
  /** Of the fill while the pointer is over it. */
  hover: string;
  /** Black or white, whichever is easier to read: for every fill, one of them has a contrast of at least 4.5 (WCAG 2.2, 1.4.3). */
  text: '#000000' | '#ffffff';
  /** Whether the button needs a border in a theme, because its fill is hard to tell from the panel. */
  border: { light: boolean; dark: boolean };
};

/** Returns the colors of a button. @param accent a color as `#rrggbb` */
export function buttonColors(accent: string): ButtonColors {
  const text = contrastOf(accent, '#ffffff') >= contrastOf(accent, '#000000') ? '#ffffff' : '#000000';
  const needsBorder = (panel: string) => contrastOf(accent, panel) < MIN_BOUNDARY_CONTRAST;
  return {
    fill: accent,
    // Away from the color of the text, so that the contrast does not get smaller.
    hover: mix(accent, text === '#ffffff' ? '#000000' : '#ffffff', 0.15),
    text,
    border: { light: needsBorder(PANELS.light), dark: needsBorder(PANELS.dark) },
  };
}

/** Returns the contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red, green, blue] = channelsOf(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: string, other: string, share: number): string {
  const others = channelsOf(other);
  const mixed = channelsOf(color).map((channel, index) => Math.round(channel + (others[index] - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

const channelsOf = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
