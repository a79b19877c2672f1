import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './letter.ts';
import { signInWords } from './sign-in-words.ts';

const domain = slot('domain');

type Words = { title: string; active: string; keep: string; later: (url: string) => string; ignore: string };

const texts: Record<LanguageCode, Words> = {
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

/** For the address that a domain was registered with: says so, and signs in. */
export const registered: Template = (language, { publicUrl }) => {
  const words = texts[language];
  const { button, codeIntroduction } = signInWords[language];
  return {
    subject: words.title,
    title: words.title,
    paragraphs: [words.active, words.keep],
    action: { label: button, href: slot('link') },
    codeIntroduction,
    notes: [words.later(`${publicUrl}/auth`), words.ignore],
  };
};
