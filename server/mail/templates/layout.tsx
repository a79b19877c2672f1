import { Body } from '@react-email/body';
import { Button } from '@react-email/button';
import { Container } from '@react-email/container';
import { Head } from '@react-email/head';
import { Heading } from '@react-email/heading';
import { Hr } from '@react-email/hr';
import { Html } from '@react-email/html';
import { Link } from '@react-email/link';
import { Text } from '@react-email/text';
import type { CSSProperties } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { LanguageCode } from '../../../contract/languages.ts';
import { type Content, slot } from './content.ts';

const fallbacks: Record<LanguageCode, string> = {
  en: 'If the button does not work, copy this address into your browser:',
  lt: 'Jei mygtukas neveikia, nukopijuokite šį adresą į naršyklę:',
  lv: 'Ja poga nedarbojas, iekopējiet šo adresi pārlūkprogrammā:',
  uk: 'Якщо кнопка не працює, скопіюйте цю адресу в браузер:',
  ru: 'Если кнопка не работает, скопируйте этот адрес в браузер:',
};

const sans = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";

const styles = {
  page: { margin: 0, padding: 0, backgroundColor: '#f4f4f5', fontFamily: sans },
  card: {
    maxWidth: 480,
    margin: '32px auto',
    padding: '32px 28px',
    backgroundColor: '#ffffff',
    border: '1px solid #e4e4e7',
    borderRadius: 12,
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
  text: { margin: '0 0 16px', fontSize: 15, lineHeight: '24px', color: '#27272a', overflowWrap: 'anywhere' },
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
  code: { margin: '0 0 8px', fontFamily: mono, fontSize: 30, lineHeight: '40px', fontWeight: 600, letterSpacing: 6, color: '#18181b' },
  rule: { margin: '24px 0', border: 0, borderTop: '1px solid #e4e4e7' },
  note: { margin: '0 0 8px', fontSize: 13, lineHeight: '20px', color: '#52525b', overflowWrap: 'anywhere' },
  link: { color: '#52525b', textDecoration: 'underline', wordBreak: 'break-all' },
} satisfies Record<string, CSSProperties>;

const dark = [
  '.page{background-color:#09090b!important}',
  '.page td{background-color:transparent!important}',
  '.card{background-color:#18181b!important;border-color:#3f3f46!important}',
  '.ink{color:#fafafa!important}',
  '.note{color:#a1a1aa!important}',
  '.button{background-color:#fafafa!important;color:#18181b!important}',
  '.rule{border-top-color:#3f3f46!important}',
  // A logo may be dark on a transparent background, so it keeps a white one.
  '.logo{padding:8px!important;border-radius:8px!important;background-color:#ffffff!important}',
].join('');
const styleSheet = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${dark}}`;

// Selects the standards mode of mail clients for which react-email's components are written.
const DOCTYPE = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

/**
 * Returns the HTML of an email with its slots unfilled; with `logo`, also the slot of the website's logo. It is rendered by React's
 * synchronous renderer: the streaming ones, and so react-email's `render`, enable async_hooks, which would make every later
 * promise of this process slower.
 */
export function htmlOf(content: Content, language: LanguageCode, logo: boolean): string {
  const html = DOCTYPE + renderToStaticMarkup(<Layout content={content} language={language} logo={logo} />);
  // Removes the markers of React and react-email; Outlook needs the conditional comments.
  return html.replace(/<!--(?!\[if|<!)[^>]*-->/g, '');
}

function Layout({ content, language, logo }: { content: Content; language: LanguageCode; logo: boolean }) {
  const { title, paragraphs, action, codeIntroduction, notes } = content;
  return (
    <Html lang={language}>
      <Head>
        <title>{title}</title>
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <style>{styleSheet}</style>
      </Head>
      <Body className="page" style={styles.page}>
        <Container className="card" style={styles.card}>
          {logo && <img className="logo" src={slot('logo')} alt={slot('sender')} height={40} style={styles.logo} />}
          <Heading as="h1" className="ink" style={styles.title}>
            {title}
          </Heading>
          {paragraphs.map((paragraph) => (
            <Text key={paragraph} className="ink" style={styles.text}>
              {paragraph}
            </Text>
          ))}
          <Button className="button" href={action.href} style={styles.button}>
            {action.label}
          </Button>
          <Hr className="rule" style={styles.rule} />
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
        </Container>
      </Body>
    </Html>
  );
}

function Code({ introduction }: { introduction: string }) {
  return (
    <>
      <Text className="ink" style={{ ...styles.text, margin: '0 0 4px' }}>
        {introduction}
      </Text>
      <Text className="ink" style={styles.code}>
        {slot('code')}
      </Text>
      <Hr className="rule" style={styles.rule} />
    </>
  );
}
