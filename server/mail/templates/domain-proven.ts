import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './letter.ts';

const domain = slot('domain');

const texts: Record<LanguageCode, { title: string; proven: string; effect: string; button: string; ignore: string }> = {
  en: {
    title: `${domain} is verified`,
    proven: `The proof that ${domain} is yours was found. The site is linked to this address.`,
    effect: 'The limits of an unverified domain are lifted, and the site is shown as verified.',
    button: 'Open my websites',
    ignore: 'You need to do nothing. You may remove the DNS record or the file again.',
  },
  lt: {
    title: `Domenas ${domain} patvirtintas`,
    proven: `Rastas įrodymas, kad domenas ${domain} yra jūsų. Svetainė susieta su šiuo adresu.`,
    effect: 'Nepatvirtinto domeno apribojimai panaikinti, o svetainė rodoma kaip patvirtinta.',
    button: 'Atidaryti mano svetaines',
    ignore: 'Jums nieko daryti nereikia. DNS įrašą ar failą jau galite pašalinti.',
  },
  lv: {
    title: `Domēns ${domain} ir apstiprināts`,
    proven: `Ir atrasts pierādījums, ka domēns ${domain} pieder jums. Vietne ir saistīta ar šo adresi.`,
    effect: 'Neapstiprināta domēna ierobežojumi ir atcelti, un vietne tiek rādīta kā apstiprināta.',
    button: 'Atvērt manas vietnes',
    ignore: 'Jums nekas nav jādara. DNS ierakstu vai failu tagad varat noņemt.',
  },
  uk: {
    title: `Домен ${domain} підтверджено`,
    proven: `Знайдено доказ того, що домен ${domain} належить вам. Сайт пов’язано з цією адресою.`,
    effect: 'Обмеження для непідтвердженого домену знято, і сайт показується як підтверджений.',
    button: 'Відкрити мої сайти',
    ignore: 'Вам нічого не потрібно робити. Запис DNS або файл тепер можна видалити.',
  },
  ru: {
    title: `Домен ${domain} подтверждён`,
    proven: `Найдено доказательство того, что домен ${domain} принадлежит вам. Сайт связан с этим адресом.`,
    effect: 'Ограничения для неподтверждённого домена сняты, и сайт показывается как подтверждённый.',
    button: 'Открыть мои сайты',
    ignore: 'От вас ничего не требуется. Запись DNS или файл теперь можно удалить.',
  },
};

/** For the address that proved a domain. */
export const domainProven: Template = (language, { publicUrl }) => {
  const words = texts[language];
  return {
    subject: words.title,
    title: words.title,
    paragraphs: [words.proven, words.effect],
    action: { label: words.button, href: `${publicUrl}/developer-email-auth` },
    codeIntroduction: null,
    notes: [words.ignore],
  };
};
