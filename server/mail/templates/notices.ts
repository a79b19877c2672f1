import type { LanguageCode } from '../../../contract/languages.ts';
import { placeholder, type Template } from '../mail.ts';

const domain = placeholder('domain');
const request = placeholder('request');

type RegisteredTexts = {
  title: string;
  active: string;
  /** By when to sign in: REGISTRATION_DAYS. */
  keep: string;
  introduction: string;
  button: string;
  once: (url: string) => string;
  requested: string;
  ignore: string;
};

const registeredTexts: Record<LanguageCode, RegisteredTexts> = {
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
  const words = registeredTexts[language];
  return {
    subject: words.title,
    preview: words.keep,
    title: words.title,
    paragraphs: [words.active, words.keep],
    action: { introduction: words.introduction, label: words.button, href: placeholder('link') },
    notes: [words.once(`${publicUrl}/auth`), words.requested, words.ignore],
  };
};

const provenTexts: Record<LanguageCode, { title: string; proven: string; effect: string; button: string; ignore: string }> = {
  en: {
    title: `${domain} is verified`,
    proven: `The proof that ${domain} is yours was found. The website is linked to this address.`,
    effect: 'The limits of an unverified domain no longer apply, and the website is shown as verified.',
    button: 'Open my websites',
    ignore: 'There is nothing left to do. You can remove the DNS record or the file.',
  },
  lt: {
    title: `Domenas ${domain} patvirtintas`,
    proven: `Rastas įrodymas, kad domenas ${domain} yra jūsų. Svetainė susieta su šiuo adresu.`,
    effect: 'Nepatvirtinto domeno apribojimai panaikinti, o svetainė rodoma kaip patvirtinta.',
    button: 'Atverti mano svetaines',
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

/** Sent to the address that proved a domain. */
export const domainProven: Template = (language, { publicUrl }) => {
  const words = provenTexts[language];
  return {
    subject: words.title,
    preview: words.effect,
    title: words.title,
    paragraphs: [words.proven, words.effect],
    action: { introduction: `${words.button}:`, label: words.button, href: `${publicUrl}/developer-email-auth` },
    notes: [words.ignore],
  };
};

const lostTexts: Record<LanguageCode, { title: string; lost: string; effect: string; comeBack: string; button: string }> = {
  en: {
    title: `${domain} has a new owner`,
    lost: `Someone else proved that they own ${domain}, with a DNS record or a file on the website. It is no longer linked to this address.`,
    effect: 'You can no longer manage this website. Its visitors sign in as before.',
    comeBack: 'If the domain is yours, add it again under My Websites and verify it.',
    button: 'Open my websites',
  },
  lt: {
    title: `Domenas ${domain} turi naują savininką`,
    lost: `Kažkas kitas DNS įrašu arba failu svetainėje įrodė, kad domenas ${domain} priklauso jam. Su šiuo adresu jis nebesusietas.`,
    effect: 'Šios svetainės tvarkyti nebegalite. Jos lankytojai prisijungia kaip anksčiau.',
    comeBack: 'Jei domenas jūsų, vėl pridėkite jį prie savo svetainių ir įrodykite, kad jis jūsų.',
    button: 'Atverti mano svetaines',
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

/** Sent to the previous address of a domain when another account proved that it owns the domain. */
export const domainLost: Template = (language, { publicUrl }) => {
  const words = lostTexts[language];
  return {
    subject: words.title,
    preview: words.effect,
    title: words.title,
    paragraphs: [words.lost, words.effect, words.comeBack],
    action: { introduction: `${words.button}:`, label: words.button, href: `${publicUrl}/developer-email-auth` },
    notes: [],
  };
};

const passkeyTexts: Record<LanguageCode, { title: string; added: string; effect: string; manage: string; button: string; ignore: string }> =
  {
    en: {
      title: 'A passkey was added',
      added: `Someone who had just signed in with this address added a passkey: ${request}.`,
      effect: 'It signs this address in without an email, at all websites that use this sign-in page.',
      manage: 'You can see all your passkeys and remove them',
      button: 'Show my passkeys',
      ignore: 'If it was not you, remove the passkey, and check who can read your emails.',
    },
    lt: {
      title: 'Pridėtas prieigos raktas',
      added: `Iškart po prisijungimo šiuo adresu buvo pridėtas prieigos raktas: ${request}.`,
      effect: 'Juo prie visų šį prisijungimo puslapį naudojančių svetainių jungiamasi be laiško.',
      manage: 'Visus savo prieigos raktus galite peržiūrėti ir pašalinti',
      button: 'Rodyti mano raktus',
      ignore: 'Jei tai buvote ne jūs, pašalinkite raktą ir patikrinkite, kas gali skaityti jūsų laiškus.',
    },
    lv: {
      title: 'Pievienota piekļuves atslēga',
      added: `Uzreiz pēc pierakstīšanās ar šo adresi tika pievienota piekļuves atslēga: ${request}.`,
      effect: 'Ar to visās vietnēs, kas izmanto šo pierakstīšanās lapu, var pierakstīties bez vēstules.',
      manage: 'Visas savas piekļuves atslēgas varat apskatīt un noņemt',
      button: 'Rādīt manas atslēgas',
      ignore: 'Ja tas nebijāt jūs, noņemiet atslēgu un pārbaudiet, kas var lasīt jūsu vēstules.',
    },
    uk: {
      title: 'Додано ключ доступу',
      added: `Одразу після входу з цією адресою було додано ключ доступу: ${request}.`,
      effect: 'З ним можна входити без листа на всі сайти, які використовують цю сторінку входу.',
      manage: 'Ви можете переглянути й видалити всі свої ключі доступу',
      button: 'Показати мої ключі',
      ignore: 'Якщо це були не ви, видаліть ключ і перевірте, хто може читати ваші листи.',
    },
    ru: {
      title: 'Добавлен ключ доступа',
      added: `Сразу после входа с этим адресом был добавлен ключ доступа: ${request}.`,
      effect: 'С ним можно входить без письма на все сайты, которые используют эту страницу входа.',
      manage: 'Вы можете посмотреть и удалить все свои ключи доступа',
      button: 'Показать мои ключи',
      ignore: 'Если это были не вы, удалите ключ и проверьте, кто может читать ваши письма.',
    },
  };

/** Sent to an address when a passkey was added to it. */
export const passkeyAdded: Template = (language, { publicUrl }) => {
  const words = passkeyTexts[language];
  return {
    subject: words.title,
    preview: words.effect,
    title: words.title,
    paragraphs: [words.added, words.effect],
    action: { introduction: `${words.manage}:`, label: words.button, href: `${publicUrl}/passkeys?language=${language}` },
    notes: [words.ignore],
  };
};
