import type { CSSProperties } from 'react';
import { slot } from './content.ts';

/** Maximum width of an email's card, in pixels. */
export const CARD_WIDTH = 480;

const sans = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

const text: CSSProperties = { margin: '0 0 16px', fontSize: 15, lineHeight: '24px', color: '#27272a', overflowWrap: 'anywhere' };

/** The styles of the elements. Mail programs that remove style sheets apply these. */
export const styles = {
  page: { margin: 0, padding: 0, backgroundColor: '#f4f4f5', fontFamily: sans },
  preview: { display: 'none', maxHeight: 0, maxWidth: 0, overflow: 'hidden', opacity: 0, lineHeight: '1px', fontSize: 1 },
  gutter: { padding: '32px 12px' },
  cardTable: { maxWidth: CARD_WIDTH, margin: '0 auto', borderCollapse: 'separate' },
  card: {
    padding: '32px 24px',
    backgroundColor: '#ffffff',
    border: '1px solid #e4e4e7',
    borderRadius: 12,
    fontFamily: sans,
    textAlign: 'left',
  },
  logo: {
    display: 'block',
    width: 'auto',
    height: 40,
    maxWidth: '100%',
    margin: '0 0 24px',
    objectFit: 'contain',
    fontSize: 17,
    lineHeight: '40px',
    fontWeight: 600,
    color: '#18181b',
  },
  title: { margin: '0 0 16px', fontSize: 22, lineHeight: '30px', fontWeight: 600, color: '#18181b', overflowWrap: 'anywhere' },
  text,
  button: {
    padding: '12px 24px',
    fontSize: 15,
    lineHeight: '20px',
    fontWeight: 600,
    color: '#ffffff',
    backgroundColor: '#18181b',
    borderRadius: 8,
    textDecoration: 'none',
  },
  codeIntroduction: { ...text, margin: '0 0 4px' },
  code: { margin: 0, fontFamily: mono, fontSize: 30, lineHeight: '40px', fontWeight: 600, letterSpacing: 6, color: '#18181b' },
  ruleSpace: { padding: '24px 0' },
  rule: { height: 1, borderTop: '1px solid #e4e4e7', fontSize: 0, lineHeight: '1px' },
  note: { margin: '0 0 8px', fontSize: 13, lineHeight: '20px', color: '#52525b', overflowWrap: 'anywhere' },
  link: { color: '#52525b', textDecoration: 'underline', wordBreak: 'break-all' },
} satisfies Record<string, CSSProperties>;

const dark = [
  '.page{background-color:#09090b!important}',
  '.page td{background-color:transparent!important}',
  '.page td.card{background-color:#18181b!important;border-color:#3f3f46!important}',
  '.ink{color:#fafafa!important}',
  '.note{color:#a1a1aa!important}',
  '.rule{border-top-color:#3f3f46!important}',
  // A logo may be dark on a transparent background, so it keeps a white one.
  '.logo{padding:8px!important;border-radius:8px!important;background-color:#ffffff!important}',
].join('');

/** The style sheet of an email: the colors of dark mode. @param darkButton the rule of the button */
const styleSheetWith = (darkButton: string) =>
  `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${dark}${darkButton}}`;

/** The button, and the style sheet with its colors in dark mode. */
type ButtonStyle = { button: CSSProperties; styleSheet: string };

const plainButton: ButtonStyle = {
  button: styles.button,
  styleSheet: styleSheetWith('.button{background-color:#fafafa!important;color:#18181b!important}'),
};

const [fill, ink, edge] = [slot('accent'), slot('accentText'), slot('accentEdge')];
const accentButton: ButtonStyle = {
  button: { ...styles.button, padding: '11px 23px', color: ink, backgroundColor: fill, border: `1px solid ${edge}` },
  styleSheet: styleSheetWith(`.button{background-color:${fill}!important;color:${ink}!important}`),
};

/** Returns the style of the button. @param accent with slots for the color of a website */
export const buttonStyle = (accent: boolean): ButtonStyle => (accent ? accentButton : plainButton);

/** The style sheet for Outlook on Windows, which shows a font list that it cannot read as Times New Roman, and hides only by mso-hide. */
export const outlookStyleSheet =
  "table,td,h1,p,a,span{font-family:'Segoe UI',Arial,sans-serif!important}.code{font-family:Consolas,'Courier New',monospace!important}.preview{mso-hide:all}";
