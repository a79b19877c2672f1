import { expect, test } from 'vitest';
import { languages } from '../../contract/languages.ts';
import { faultsOfWording, overLength } from '../../test/support/translation-checks.ts';
import { templates } from '../mail/composition.ts';
import { type Content, type MailKind, placeholder, splitAtPlaceholders } from '../mail/mail.ts';

const codes = languages.map(({ code }) => code);
const kinds = Object.keys(templates) as MailKind[];
const contentOf = (kind: MailKind, code: (typeof codes)[number]) => templates[kind](code, { publicUrl: 'https://auth.example' });

/** Returns the texts of an email by the names of their parts, with {name} for a placeholder. */
function partsOf({ subject, preview, title, paragraphs, action, entered, warning, notes }: Content): [string, string][] {
  const list = (name: string, texts: string[]) => texts.map((text, index): [string, string] => [`${name} ${index + 1}`, text]);
  const { introduction, label } = action;
  const single = {
    subject,
    preview,
    title,
    introduction,
    button: label,
    ...entered,
    ...(warning && { warning }),
  };
  const all = [...Object.entries(single), ...list('paragraph', paragraphs), ...list('note', notes)];
  return all.map(([name, text]) => [
    name,
    splitAtPlaceholders(text)
      .map((piece, index) => (index % 2 === 1 ? `{${piece}}` : piece.replace(/https:\S+/, '')))
      .join('')
      .trim(),
  ]);
}

test.each(codes)('the emails in %s have the parts and placeholders of English', (code) => {
  const placeholdersOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const kind of kinds) {
    const [own, english] = [partsOf(contentOf(kind, code)), partsOf(contentOf(kind, 'en'))];
    const placeholders = (parts: [string, string][]) =>
      parts.map(([name, text]) => [name, placeholdersOf(text).filter((found) => found !== '{code}')]);
    expect([kind, placeholders(own)]).toEqual([kind, placeholders(english)]);
  }
});

test.each(codes)('the emails in %s keep to terms, quotation marks and lengths', (code) => {
  const faults = kinds.flatMap((kind) =>
    partsOf(contentOf(kind, code)).flatMap(([name, text]) =>
      [
        ...faultsOfWording(code, text),
        ...(name === 'subject' ? overLength(text, 50, 'a subject on a phone, with a domain') : []),
        ...(name === 'button' ? overLength(text, 32, 'a button on a screen of 320 px') : []),
      ].map((fault) => `${kind} in ${code}: the ${name} ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test.each(codes)('a subject in %s begins with the code where the email has one', (code) => {
  for (const kind of kinds) {
    const { subject, entered } = contentOf(kind, code);
    expect([kind, subject.startsWith(placeholder('code'))]).toEqual([kind, entered !== undefined]);
  }
});
