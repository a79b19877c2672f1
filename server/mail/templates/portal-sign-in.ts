import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './letter.ts';
import { signInWords } from './sign-in-words.ts';

const titles: Record<LanguageCode, string> = {
  en: 'Sign in to Email Auth',
  lt: 'Prisijungimas prie „Email Auth“',
  lv: 'Pierakstīšanās pakalpojumā “Email Auth”',
  uk: 'Вхід до Email Auth',
  ru: 'Вход в Email Auth',
};

/** For a developer: the way in to the portal, the command line or another program. */
export const portalSignIn: Template = (language) => {
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
