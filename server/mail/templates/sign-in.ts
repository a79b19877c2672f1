import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './letter.ts';
import { signInWords } from './sign-in-words.ts';

const host = slot('host');

const titles: Record<LanguageCode, string> = {
  en: `Sign in to ${host}`,
  lt: `Prisijungimas prie ${host}`,
  lv: `Pierakstīšanās vietnē ${host}`,
  uk: `Вхід на ${host}`,
  ru: `Вход на ${host}`,
};

/** For a visitor of a site, or a user of an application: the way in to the host where they go. */
export const signIn: Template = (language) => {
  const words = signInWords[language];
  return {
    subject: titles[language],
    title: titles[language],
    paragraphs: [words.howTo],
    action: { label: words.button, href: slot('link') },
    codeIntroduction: words.codeIntroduction,
    notes: [words.ignore],
  };
};
