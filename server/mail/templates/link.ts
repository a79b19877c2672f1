import type { EnteredMethod } from '../../../contract/entered.ts';
import type { LanguageCode } from '../../../contract/languages.ts';
import { placeholder, type Template } from '../mail.ts';

const code = placeholder('code');
const host = placeholder('host');
const request = placeholder('request');

/** The sentences of every email with a link and a code. */
type Sentences = {
  preview: string;
  /** How long link and code are valid (ATTEMPT_SECONDS). */
  validity: string;
  introduction: string;
  button: string;
  entered: Readonly<Record<EnteredMethod, string>>;
  warning: string;
  requested: string;
  ignore: string;
};

const sentences: Record<LanguageCode, Sentences> = {
  en: {
    preview: `${code}: enter this code where you began, or open the link. Both expire in 10 minutes.`,
    validity: 'Sign in with the link or with the code. Both expire in 10 minutes and work only once.',
    introduction: 'Open this link to sign in:',
    button: 'Sign in',
    entered: { code: 'Or enter this code in the window where you began:' },
    warning:
      'Someone is guessing the codes of this address: many wrong ones were entered in the last 24 hours. Until you sign in, a new browser or program can try this code only once, so enter it carefully. Never give it to anyone.',
    requested: `Requested: ${request}`,
    ignore: 'If this was not you, ignore this email: no one can sign in without it.',
  },
  lt: {
    preview: `${code}: įveskite šį kodą ten, kur pradėjote, arba atverkite nuorodą. Jie galioja 10 minučių.`,
    validity: 'Prisijunkite naudodami nuorodą arba kodą. Jie galioja 10 minučių ir tinka tik vieną kartą.',
    introduction: 'Norėdami prisijungti, atverkite šią nuorodą:',
    button: 'Prisijungti',
    entered: { code: 'Arba įveskite šį kodą lange, kuriame pradėjote:' },
    warning:
      'Kažkas spėlioja šio adreso kodus: per pastarąsias 24 valandas įvesta daug neteisingų. Kol neprisijungsite, naujoje naršyklėje ar programoje šį kodą galima įvesti tik vieną kartą, todėl įveskite jį atidžiai. Niekam jo neduokite.',
    requested: `Laiško paprašyta: ${request}`,
    ignore: 'Jei tai buvote ne jūs, nekreipkite į šį laišką dėmesio: be jo niekas negali prisijungti.',
  },
  lv: {
    preview: `${code}: ievadiet šo kodu tur, kur sākāt, vai atveriet saiti. Tie ir derīgi 10 minūtes.`,
    validity: 'Pierakstieties ar saiti vai kodu. Tie ir derīgi 10 minūtes un izmantojami tikai vienu reizi.',
    introduction: 'Lai pierakstītos, atveriet šo saiti:',
    button: 'Pierakstīties',
    entered: { code: 'Vai ievadiet šo kodu logā, kurā sākāt:' },
    warning:
      'Kāds mēģina uzminēt šīs adreses kodus: pēdējās 24 stundās ievadīts daudz nepareizu kodu. Kamēr nebūsiet pierakstījies, jaunā pārlūkā vai programmā šo kodu var ievadīt tikai vienu reizi, tāpēc ievadiet to uzmanīgi. Nevienam to nedodiet.',
    requested: `Pieprasīts: ${request}`,
    ignore: 'Ja tas nebijāt jūs, neņemiet šo vēstuli vērā: bez tās neviens nevar pierakstīties.',
  },
  uk: {
    preview: `${code}: введіть цей код там, де почали вхід, або відкрийте посилання. Вони дійсні 10 хвилин.`,
    validity: 'Увійдіть за посиланням або за кодом. Вони дійсні 10 хвилин і діють лише один раз.',
    introduction: 'Щоб увійти, відкрийте це посилання:',
    button: 'Увійти',
    entered: { code: 'Або введіть цей код у вікні, де ви почали вхід:' },
    warning:
      'Хтось підбирає коди цієї адреси: за останні 24 години введено багато неправильних. Доки ви не ввійдете, у новому браузері чи програмі цей код можна ввести лише один раз, тож вводьте його уважно. Нікому його не повідомляйте.',
    requested: `Запит: ${request}`,
    ignore: 'Якщо це були не ви, не зважайте на цей лист: без нього ніхто не зможе увійти.',
  },
  ru: {
    preview: `${code}: введите этот код там, где начали вход, или откройте ссылку. Они действуют 10 минут.`,
    validity: 'Войдите по ссылке или по коду. Они действуют 10 минут и только один раз.',
    introduction: 'Чтобы войти, откройте эту ссылку:',
    button: 'Войти',
    entered: { code: 'Или введите этот код в окне, где вы начали вход:' },
    warning:
      'Кто-то подбирает коды этого адреса: за последние 24 часа введено много неверных. Пока вы не войдёте, в новом браузере или программе этот код можно ввести только один раз, поэтому вводите его внимательно. Никому его не сообщайте.',
    requested: `Запрос: ${request}`,
    ignore: 'Если это были не вы, не обращайте внимания на это письмо: без него никто не сможет войти.',
  },
};

type Headline = { subject: string; title: string };

const websiteHeadlines: Record<LanguageCode, Headline> = {
  en: { subject: `${code} is your code for ${host}`, title: `Sign in to ${host}` },
  lt: { subject: `${code} – jūsų prisijungimo prie ${host} kodas`, title: `Prisijungimas prie ${host}` },
  lv: { subject: `${code} ir jūsu kods vietnei ${host}`, title: `Pierakstīšanās vietnē ${host}` },
  uk: { subject: `${code} — ваш код для входу на ${host}`, title: `Вхід на ${host}` },
  ru: { subject: `${code} — ваш код для входа на ${host}`, title: `Вход на ${host}` },
};

const portalHeadlines: Record<LanguageCode, Headline> = {
  en: { subject: `${code} is your code for Email Auth`, title: 'Sign in to Email Auth' },
  lt: { subject: `${code} – jūsų prisijungimo prie „Email Auth“ kodas`, title: 'Prisijungimas prie „Email Auth“' },
  lv: { subject: `${code} ir jūsu kods pakalpojumam „Email Auth”`, title: 'Pierakstīšanās pakalpojumā „Email Auth”' },
  uk: { subject: `${code} — ваш код для входу до Email Auth`, title: 'Вхід до Email Auth' },
  ru: { subject: `${code} — ваш код для входа в Email Auth`, title: 'Вход в Email Auth' },
};

const signInWith =
  (headlines: Record<LanguageCode, Headline>): Template =>
  (language) => {
    const { preview, validity, introduction, button, entered, warning, requested, ignore } = sentences[language];
    return {
      ...headlines[language],
      preview,
      paragraphs: [validity],
      action: { introduction, label: button, href: placeholder('link') },
      entered,
      warning,
      notes: [requested, ignore],
    };
  };

/** Sent to a visitor of a website or a user of an application: signs in to its host. */
export const signIn = signInWith(websiteHeadlines);

/** Sent to a developer: signs in to the portal, the command line or another program. */
export const portalSignIn = signInWith(portalHeadlines);
