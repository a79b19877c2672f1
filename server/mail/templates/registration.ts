import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './content.ts';

const domain = slot('domain');
const request = slot('request');

type Texts = {
  title: string;
  active: string;
  /** By when to sign in: REGISTRATION_LINK_SECONDS. */
  keep: string;
  introduction: string;
  button: string;
  once: (url: string) => string;
  requested: string;
  ignore: string;
};

const texts: Record<LanguageCode, Texts> = {
  en: {
    title: `${domain} is registered`,
    active: `Visitors of ${domain} can now sign in by email. Only this address can manage the website.`,
    keep: 'Sign in within 7 days to keep the registration.',
    introduction: 'Open this link to sign in:',
    button: 'Sign in',
    once: (url) => `The link works once within these 7 days. After that, sign in at ${url}`,
    requested: `Registered: ${request}`,
    ignore: 'If you did not register this domain, ignore this email: the registration ends by itself after 7 days.',
  },
  lt: {
    title: `Domenas ${domain} užregistruotas`,
    active: `Svetainės ${domain} lankytojai jau gali prisijungti el. paštu. Tvarkyti svetainę galima tik su šiuo adresu.`,
    keep: 'Kad registracija išliktų, prisijunkite per 7 dienas.',
    introduction: 'Norėdami prisijungti, atverkite šią nuorodą:',
    button: 'Prisijungti',
    once: (url) => `Per šias 7 dienas nuoroda tinka vieną kartą. Vėliau prisijunkite čia: ${url}`,
    requested: `Užregistruota: ${request}`,
    ignore: 'Jei šio domeno neregistravote, nekreipkite į šį laišką dėmesio: po 7 dienų registracija baigsis savaime.',
  },
  lv: {
    title: `Domēns ${domain} ir reģistrēts`,
    active: `Vietnes ${domain} apmeklētāji tagad var pierakstīties ar e-pastu. Vietni var pārvaldīt tikai ar šo adresi.`,
    keep: 'Lai reģistrācija saglabātos, pierakstieties 7 dienu laikā.',
    introduction: 'Lai pierakstītos, atveriet šo saiti:',
    button: 'Pierakstīties',
    once: (url) => `Šajās 7 dienās saite ir izmantojama vienu reizi. Vēlāk pierakstieties šeit: ${url}`,
    requested: `Reģistrēts: ${request}`,
    ignore: 'Ja jūs šo domēnu nereģistrējāt, neņemiet šo vēstuli vērā: pēc 7 dienām reģistrācija beigsies pati.',
  },
  uk: {
    title: `Домен ${domain} зареєстровано`,
    active: `Відвідувачі сайту ${domain} тепер можуть входити електронною поштою. Керувати сайтом можна лише із цією адресою.`,
    keep: 'Щоб зберегти реєстрацію, увійдіть протягом 7 днів.',
    introduction: 'Щоб увійти, відкрийте це посилання:',
    button: 'Увійти',
    once: (url) => `Протягом цих 7 днів посилання діє один раз. Пізніше увійдіть тут: ${url}`,
    requested: `Зареєстровано: ${request}`,
    ignore: 'Якщо ви не реєстрували цей домен, не зважайте на цей лист: через 7 днів реєстрація закінчиться сама.',
  },
  ru: {
    title: `Домен ${domain} зарегистрирован`,
    active: `Посетители сайта ${domain} теперь могут входить по электронной почте. Управлять сайтом можно только с этим адресом.`,
    keep: 'Чтобы сохранить регистрацию, войдите в течение 7 дней.',
    introduction: 'Чтобы войти, откройте эту ссылку:',
    button: 'Войти',
    once: (url) => `В течение этих 7 дней ссылка действует один раз. Позже войдите здесь: ${url}`,
    requested: `Зарегистрировано: ${request}`,
    ignore: 'Если вы не регистрировали этот домен, не обращайте внимания на это письмо: через 7 дней регистрация закончится сама.',
  },
};

/**
 * Sent to the address with which a domain was registered: a notice that also signs in. It has no code, since there is no window in
 * which to enter one.
 */
export const registered: Template = (language, { publicUrl }) => {
  const words = texts[language];
  return {
    subject: words.title,
    preview: words.keep,
    title: words.title,
    paragraphs: [words.active, words.keep],
    action: { introduction: words.introduction, label: words.button, href: slot('link') },
    codeIntroduction: null,
    notes: [words.once(`${publicUrl}/auth`), words.requested, words.ignore],
  };
};
