import type { LanguageCode } from '../../../contract/languages.ts';
import { slot, type Template } from './letter.ts';

const domain = slot('domain');

const texts: Record<LanguageCode, { title: string; lost: string; effect: string; comeBack: string; button: string }> = {
  en: {
    title: `${domain} has a new owner`,
    lost: `Somebody else proved to own ${domain}, by a DNS record or by a file on the site. It is no longer linked to this address.`,
    effect: 'You can no longer sign in for this site or manage it. Its visitors sign in as before.',
    comeBack: 'If the domain is yours, add it again under My Websites and prove it.',
    button: 'Open my websites',
  },
  lt: {
    title: `Domenas ${domain} turi naują savininką`,
    lost: `Kažkas kitas DNS įrašu arba failu svetainėje įrodė, kad domenas ${domain} priklauso jam. Su šiuo adresu jis nebesusietas.`,
    effect: 'Šios svetainės tvarkyti nebegalite. Jos lankytojai prisijungia kaip anksčiau.',
    comeBack: 'Jei domenas jūsų, vėl pridėkite jį prie savo svetainių ir įrodykite, kad jis jūsų.',
    button: 'Atidaryti mano svetaines',
  },
  lv: {
    title: `Domēnam ${domain} ir jauns īpašnieks`,
    lost: `Kāds cits ar DNS ierakstu vai failu vietnē ir pierādījis, ka domēns ${domain} pieder viņam. Ar šo adresi tas vairs nav saistīts.`,
    effect: 'Jūs šo vietni vairs nevarat pārvaldīt. Tās apmeklētāji pierakstās tāpat kā līdz šim.',
    comeBack: 'Ja domēns ir jūsu, pievienojiet to savām vietnēm vēlreiz un pierādiet, ka tas ir jūsu.',
    button: 'Atvērt manas vietnes',
  },
  uk: {
    title: `У домену ${domain} новий власник`,
    lost: `Хтось інший довів записом DNS або файлом на сайті, що домен ${domain} належить йому. З цією адресою його більше не пов’язано.`,
    effect: 'Ви більше не можете керувати цим сайтом. Його відвідувачі входять так само, як і раніше.',
    comeBack: 'Якщо домен ваш, знову додайте його до своїх сайтів і підтвердьте право на нього.',
    button: 'Відкрити мої сайти',
  },
  ru: {
    title: `У домена ${domain} новый владелец`,
    lost: `Кто-то другой доказал записью DNS или файлом на сайте, что домен ${domain} принадлежит ему. С этим адресом он больше не связан.`,
    effect: 'Вы больше не можете управлять этим сайтом. Его посетители входят так же, как и раньше.',
    comeBack: 'Если домен ваш, снова добавьте его в свои сайты и подтвердите право на него.',
    button: 'Открыть мои сайты',
  },
};

/** For the address that a domain was linked to until somebody else proved it. */
export const domainLost: Template = (language, { publicUrl }) => {
  const words = texts[language];
  return {
    subject: words.title,
    title: words.title,
    paragraphs: [words.lost, words.effect, words.comeBack],
    action: { label: words.button, href: `${publicUrl}/developer-email-auth` },
    codeIntroduction: null,
    notes: [],
  };
};
