import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './content.ts';

const host = slot('host');
const domain = slot('domain');

/** The sentences that all emails with a link and a code share. */
type Sentences = {
  /** How to use the link, and how long it is valid (ATTEMPT_SECONDS). */
  howTo: string;
  button: string;
  codeIntroduction: string;
  ignore: string;
};

const sentences: Record<LanguageCode, Sentences> = {
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

const siteTitles: Record<LanguageCode, string> = {
  en: `Sign in to ${host}`,
  lt: `Prisijungimas prie ${host}`,
  lv: `Pierakstīšanās vietnē ${host}`,
  uk: `Вхід на ${host}`,
  ru: `Вход на ${host}`,
};

/** Sent to a visitor of a website or a user of an application: signs in to its host. */
export const signIn: Template = (language) => {
  const words = sentences[language];
  return {
    subject: siteTitles[language],
    title: siteTitles[language],
    paragraphs: [words.howTo],
    action: { label: words.button, href: slot('link') },
    codeIntroduction: words.codeIntroduction,
    notes: [words.ignore],
  };
};

const portalTitles: Record<LanguageCode, string> = {
  en: 'Sign in to Email Auth',
  lt: 'Prisijungimas prie „Email Auth“',
  lv: 'Pierakstīšanās pakalpojumā “Email Auth”',
  uk: 'Вхід до Email Auth',
  ru: 'Вход в Email Auth',
};

/** Sent to a developer: signs in to the portal, the command line or another program. */
export const portalSignIn: Template = (language) => {
  const words = sentences[language];
  return {
    subject: portalTitles[language],
    title: portalTitles[language],
    paragraphs: [words.howTo],
    action: { label: words.button, href: slot('link') },
    codeIntroduction: words.codeIntroduction,
    notes: [words.ignore],
  };
};

type RegisteredTexts = { title: string; active: string; keep: string; later: (url: string) => string; ignore: string };

const registeredTexts: Record<LanguageCode, RegisteredTexts> = {
  en: {
    title: `${domain} is registered`,
    active: `${domain} can now sign its visitors in by email. This address is linked to it: only you can sign in and manage the site.`,
    keep: 'Sign in once within 7 days to keep the registration.',
    later: (url) => `The link and the code expire in 10 minutes. Later, ask for a new email at ${url}`,
    ignore: 'If you did not register this domain, ignore this email: the registration ends by itself after 7 days.',
  },
  lt: {
    title: `Domenas ${domain} užregistruotas`,
    active: `Svetainės ${domain} lankytojai jau gali prisijungti el. paštu. Su ja susietas šis adresas: tik jūs galite prisijungti ir ją tvarkyti.`,
    keep: 'Kad registracija išliktų, prisijunkite bent kartą per 7 dienas.',
    later: (url) => `Nuoroda ir kodas galioja 10 minučių. Vėliau naujo laiško paprašykite čia: ${url}`,
    ignore: 'Jei šio domeno neregistravote, nekreipkite dėmesio į šį laišką: po 7 dienų registracija baigsis savaime.',
  },
  lv: {
    title: `Domēns ${domain} ir reģistrēts`,
    active: `Vietnes ${domain} apmeklētāji tagad var pierakstīties ar e-pastu. Ar to ir saistīta šī adrese: tikai jūs varat pierakstīties un pārvaldīt vietni.`,
    keep: 'Lai reģistrācija saglabātos, pierakstieties vismaz vienu reizi 7 dienu laikā.',
    later: (url) => `Saite un kods ir derīgi 10 minūtes. Vēlāk jaunu vēstuli pieprasiet šeit: ${url}`,
    ignore: 'Ja jūs šo domēnu nereģistrējāt, neņemiet šo vēstuli vērā: pēc 7 dienām reģistrācija beigsies pati.',
  },
  uk: {
    title: `Домен ${domain} зареєстровано`,
    active: `Відвідувачі сайту ${domain} тепер можуть входити за допомогою електронної пошти. З ним пов’язано цю адресу: лише ви можете увійти й керувати сайтом.`,
    keep: 'Щоб зберегти реєстрацію, увійдіть хоча б раз протягом 7 днів.',
    later: (url) => `Посилання й код діють 10 хвилин. Пізніше замовте новий лист тут: ${url}`,
    ignore: 'Якщо ви не реєстрували цей домен, не зважайте на цей лист: через 7 днів реєстрація закінчиться сама.',
  },
  ru: {
    title: `Домен ${domain} зарегистрирован`,
    active: `Посетители сайта ${domain} теперь могут входить по электронной почте. С ним связан этот адрес: только вы можете войти и управлять сайтом.`,
    keep: 'Чтобы сохранить регистрацию, войдите хотя бы один раз в течение 7 дней.',
    later: (url) => `Ссылка и код действуют 10 минут. Позже запросите новое письмо здесь: ${url}`,
    ignore: 'Если вы не регистрировали этот домен, не обращайте внимания на это письмо: через 7 дней регистрация закончится сама.',
  },
};

/** Sent to the address with which a domain was registered: a notice that also signs in. */
export const registered: Template = (language, { publicUrl }) => {
  const words = registeredTexts[language];
  const { button, codeIntroduction } = sentences[language];
  return {
    subject: words.title,
    title: words.title,
    paragraphs: [words.active, words.keep],
    action: { label: button, href: slot('link') },
    codeIntroduction,
    notes: [words.later(`${publicUrl}/auth`), words.ignore],
  };
};
