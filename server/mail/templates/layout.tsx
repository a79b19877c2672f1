import { Body } from '@react-email/body';
import { Button } from '@react-email/button';
import { Head } from '@react-email/head';
import { Heading } from '@react-email/heading';
import { Html } from '@react-email/html';
import { Link } from '@react-email/link';
import { Text } from '@react-email/text';
import type { CSSProperties, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { ENTERED_METHODS, type EnteredMethod } from '../../../contract/entered.ts';
import type { LanguageCode } from '../../../contract/languages.ts';
import { type Content, placeholder } from '../mail.ts';

/** Maximum width of an email's card, in pixels. */
const CARD_WIDTH = 480;

const sans = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

const text: CSSProperties = { margin: '0 0 16px', fontSize: 15, lineHeight: '24px', color: '#27272a', overflowWrap: 'anywhere' };

/** The styles of the elements. Mail programs that remove style sheets apply these. */
const styles = {
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
  enteredIntroduction: { ...text, margin: '0 0 4px' },
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

const [fill, ink, edge] = [placeholder('accent'), placeholder('accentText'), placeholder('accentEdge')];
const accentButton: ButtonStyle = {
  button: { ...styles.button, padding: '11px 23px', color: ink, backgroundColor: fill, border: `1px solid ${edge}` },
  styleSheet: styleSheetWith(`.button{background-color:${fill}!important;color:${ink}!important}`),
};

/** Returns the style of the button. @param accent with placeholders for the color of a website */
const buttonStyle = (accent: boolean): ButtonStyle => (accent ? accentButton : plainButton);

/** The style sheet for Outlook on Windows, which shows a font list that it cannot read as Times New Roman, and hides only by mso-hide. */
const outlookStyleSheet =
  "table,td,h1,p,a,span{font-family:'Segoe UI',Arial,sans-serif!important}.code{font-family:Consolas,'Courier New',monospace!important}.preview{mso-hide:all}";

const fallbacks: Record<LanguageCode, string> = {
  en: 'If the button does not work, copy this address into your browser:',
  lt: 'Jei mygtukas neveikia, nukopijuokite šį adresą į naršyklę:',
  lv: 'Ja poga nedarbojas, iekopējiet šo adresi pārlūkā:',
  uk: 'Якщо кнопка не працює, скопіюйте цю адресу в браузер:',
  ru: 'Если кнопка не работает, скопируйте этот адрес в браузер:',
};

// Selects the standards mode of mail clients for which react-email's components are written.
const DOCTYPE = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

// React cannot render conditional comments, so that an attribute marks their places. Outlook on Windows ignores max-width: it gets
// a table of the card's width around the card.
const CARD = { begin: 'data-card-begins', end: 'data-card-ends' };
const markerOf = (attribute: string) => `<span ${attribute}="true"></span>`;
const CARD_BEGINS = `<!--[if mso]><table role="presentation" align="center" width="${CARD_WIDTH}" border="0" cellpadding="0" cellspacing="0"><tr><td><![endif]-->`;
const CARD_ENDS = '<!--[if mso]></td></tr></table><![endif]-->';
const OUTLOOK_HEAD = `<!--[if mso]><style>${outlookStyleSheet}</style><![endif]-->`;

/** What an email shows of the branding of a website. */
export type MailBranding = { logo: boolean; accent: boolean };

/**
 * Returns the HTML of an email with its placeholders unfilled; with `logo` and `accent`, also those of the website's logo and color. It is rendered by React's
 * synchronous renderer: the streaming ones, and so react-email's `render`, enable async_hooks, which would make every later
 * promise of this process slower.
 */
export function htmlOf(content: Content, language: LanguageCode, branding: MailBranding): string {
  const html = DOCTYPE + renderToStaticMarkup(<Layout content={content} language={language} branding={branding} />);
  return (
    html
      // Removes the markers of React and react-email; Outlook needs the conditional comments.
      .replace(/<!--(?!\[if|<!)[^>]*-->/g, '')
      // React adds it for the logo; mail programs load no resource ahead.
      .replace(/<link rel="preload"[^<>]*>/, '')
      .replace('</head>', `${OUTLOOK_HEAD}</head>`)
      .replace(markerOf(CARD.begin), CARD_BEGINS)
      .replace(markerOf(CARD.end), CARD_ENDS)
  );
}

type LayoutProps = { content: Content; language: LanguageCode; branding: MailBranding };

function Layout({ content, language, branding }: LayoutProps) {
  const { title, preview } = content;
  return (
    <Html lang={language}>
      <Head>
        <title>{title}</title>
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <style>{buttonStyle(branding.accent).styleSheet}</style>
      </Head>
      <Body className="page" style={styles.page}>
        <div className="preview" style={styles.preview}>
          {preview}
        </div>
        <Table align="center" style={styles.gutter}>
          <span {...{ [CARD.begin]: 'true' }} />
          <Table className="card" tableStyle={styles.cardTable} style={styles.card}>
            <Message content={content} language={language} branding={branding} />
          </Table>
          <span {...{ [CARD.end]: 'true' }} />
        </Table>
      </Body>
    </Html>
  );
}

function Message({ content, language, branding: { logo, accent } }: LayoutProps) {
  const { title, paragraphs, action, entered, notes } = content;
  return (
    <>
      {logo && <img className="logo" src={placeholder('logo')} alt={placeholder('sender')} height={40} style={styles.logo} />}
      <Heading as="h1" className="ink" style={styles.title}>
        {title}
      </Heading>
      {paragraphs.map((paragraph) => (
        <Text key={paragraph} className="ink" style={styles.text}>
          {paragraph}
        </Text>
      ))}
      <Button className="button" href={action.href} style={buttonStyle(accent).button}>
        {action.label}
      </Button>
      <Rule />
      {entered && ENTERED_METHODS.map((method) => <Entered key={method} method={method} introduction={entered[method]} />)}
      <Text className="note" style={styles.note}>
        {fallbacks[language]}
        <br />
        <Link className="note" href={action.href} style={styles.link}>
          {action.href}
        </Link>
      </Text>
      {notes.map((note) => (
        <Text key={note} className="note" style={styles.note}>
          {note}
        </Text>
      ))}
    </>
  );
}

function Entered({ method, introduction }: { method: EnteredMethod; introduction: string }) {
  return (
    <>
      <Text className="ink" style={styles.enteredIntroduction}>
        {introduction}
      </Text>
      <Text className="ink code" style={styles.code}>
        {placeholder(method)}
      </Text>
      <Rule />
    </>
  );
}

type TableProps = {
  className?: string;
  align?: 'center';
  /** Of the table, for what Outlook may ignore; Outlook on Windows applies padding, border and background only to a cell. */
  tableStyle?: CSSProperties;
  /** Of the cell. */
  style: CSSProperties;
  children: ReactNode;
};

/** A table with one cell, for layout: mail programs do not support it with other elements. */
function Table({ className, align, tableStyle, style, children }: TableProps) {
  return (
    <table role="presentation" align={align} width="100%" border={0} cellPadding={0} cellSpacing={0} style={tableStyle}>
      <tbody>
        <tr>
          <td className={className} style={style}>
            {children}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** A horizontal rule with space above and below it. Outlook on Windows draws an `hr` with a shadow. */
function Rule() {
  return (
    <Table style={styles.ruleSpace}>
      <Table className="rule" style={styles.rule}>
        {'\u00a0'}
      </Table>
    </Table>
  );
}
