import { Body } from '@react-email/body';
import { Button } from '@react-email/button';
import { Head } from '@react-email/head';
import { Heading } from '@react-email/heading';
import { Html } from '@react-email/html';
import { Link } from '@react-email/link';
import { Text } from '@react-email/text';
import { renderToStaticMarkup } from 'react-dom/server';
import type { LanguageCode } from '../../../contract/languages.ts';
import { type Content, slot } from './content.ts';
import { buttonStyle, CARD_WIDTH, outlookStyleSheet, styles } from './styles.ts';
import { Rule, Table } from './table.tsx';

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
 * Returns the HTML of an email with its slots unfilled; with `logo` and `accent`, also those of the website's logo and color. It is rendered by React's
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
  const { title, paragraphs, action, codeIntroduction, notes } = content;
  return (
    <>
      {logo && <img className="logo" src={slot('logo')} alt={slot('sender')} height={40} style={styles.logo} />}
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
      {codeIntroduction !== null && <Code introduction={codeIntroduction} />}
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

function Code({ introduction }: { introduction: string }) {
  return (
    <>
      <Text className="ink" style={styles.codeIntroduction}>
        {introduction}
      </Text>
      <Text className="ink code" style={styles.code}>
        {slot('code')}
      </Text>
      <Rule />
    </>
  );
}
