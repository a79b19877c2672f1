import type { LanguageCode } from '../../../contract/languages.ts';

/** Sentences that every mail with a link and a code shares. */
type SignInWords = {
  /** How to use the link, and for how long it works (ATTEMPT_SECONDS). */
  howTo: string;
  button: string;
  codeIntroduction: string;
  ignore: string;
};

export const signInWords: Record<LanguageCode, SignInWords> = {
  en: {
    howTo: 'Click the button to sign in. The link works once and expires in 10 minutes.',
    button: 'Sign in',
    codeIntroduction: 'Or type this code in the window where you began:',
    ignore: 'If you did not ask for this email, ignore it: nobody can sign in without it.',
  },
  lt: {
    howTo: 'Paspauskite mygtuką ir prisijungsite. Nuoroda veikia vieną kartą ir galioja 10 minučių.',
    button: 'Prisijungti',
    codeIntroduction: 'Arba įveskite šį kodą lange, kuriame pradėjote:',
    ignore: 'Jei šio laiško neprašėte, nekreipkite į jį dėmesio: be jo niekas negali prisijungti.',
  },
  lv: {
    howTo: 'Nospiediet pogu, lai pierakstītos. Saite darbojas vienu reizi un ir derīga 10 minūtes.',
    button: 'Pierakstīties',
    codeIntroduction: 'Vai arī ievadiet šo kodu logā, kurā sākāt:',
    ignore: 'Ja jūs šo vēstuli nepieprasījāt, neņemiet to vērā: bez tās neviens nevar pierakstīties.',
  },
  uk: {
    howTo: 'Натисніть кнопку, щоб увійти. Посилання діє один раз і лише 10 хвилин.',
    button: 'Увійти',
    codeIntroduction: 'Або введіть цей код у вікні, де ви почали вхід:',
    ignore: 'Якщо ви не замовляли цього листа, просто не зважайте на нього: без нього ніхто не зможе увійти.',
  },
  ru: {
    howTo: 'Нажмите кнопку, чтобы войти. Ссылка сработает один раз и действует 10 минут.',
    button: 'Войти',
    codeIntroduction: 'Или введите этот код в окне, где вы начали вход:',
    ignore: 'Если вы не запрашивали это письмо, просто не обращайте на него внимания: без него никто не сможет войти.',
  },
};
