import type { LanguageCode } from '../../../contract/languages.ts';
import type { WebsiteRole } from '../../../contract/websites.ts';
import { placeholder, type Template } from '../mail.ts';

const domain = placeholder('domain');
const inviter = placeholder('inviter');

type Texts = {
  title: string;
  invited: Record<WebsiteRole, string>;
  accept: string;
  button: string;
  introduction: string;
  /** Until INVITATION_DAYS have passed. */
  later: (url: string) => string;
  ignore: string;
};

const texts: Record<LanguageCode, Texts> = {
  en: {
    title: `You are invited to manage ${domain}`,
    invited: {
      owner: `${inviter} invites you to manage the email sign-in of ${domain} as an owner: with its settings, its visitors and its team.`,
      member: `${inviter} invites you to manage the email sign-in of ${domain} as a member: its statistics, its log and its branding.`,
    },
    accept: 'Sign in to accept or decline the invitation. It is valid for 7 days.',
    button: 'See the invitation',
    introduction: 'Open this link to see the invitation:',
    later: (url) => `The link works once within these 7 days. After that, sign in with this address at ${url}`,
    ignore: 'If you do not know the sender, ignore this email: nothing changes unless you accept.',
  },
  lt: {
    title: `Jus kviečia tvarkyti ${domain}`,
    invited: {
      owner: `${inviter} kviečia jus savininko teisėmis tvarkyti prisijungimą el. paštu svetainėje ${domain}: jos nuostatas, lankytojus ir komandą.`,
      member: `${inviter} kviečia jus nario teisėmis tvarkyti prisijungimą el. paštu svetainėje ${domain}: jos statistiką, žurnalą ir išvaizdą.`,
    },
    accept: 'Prisijunkite ir priimkite arba atmeskite kvietimą. Jis galioja 7 dienas.',
    button: 'Peržiūrėti kvietimą',
    introduction: 'Norėdami peržiūrėti kvietimą, atverkite šią nuorodą:',
    later: (url) => `Per šias 7 dienas nuoroda tinka vieną kartą. Vėliau prisijunkite šiuo adresu čia: ${url}`,
    ignore: 'Jei siuntėjo nepažįstate, nekreipkite į šį laišką dėmesio: kol nepriimsite kvietimo, niekas nepasikeis.',
  },
  lv: {
    title: `Jūs aicina pārvaldīt vietni ${domain}`,
    invited: {
      owner: `${inviter} aicina jūs kā īpašnieku pārvaldīt pierakstīšanos ar e-pastu vietnē ${domain}: tās iestatījumus, apmeklētājus un komandu.`,
      member: `${inviter} aicina jūs kā dalībnieku pārvaldīt pierakstīšanos ar e-pastu vietnē ${domain}: tās statistiku, žurnālu un noformējumu.`,
    },
    accept: 'Pierakstieties, lai pieņemtu vai noraidītu uzaicinājumu. Tas ir derīgs 7 dienas.',
    button: 'Skatīt uzaicinājumu',
    introduction: 'Lai skatītu uzaicinājumu, atveriet šo saiti:',
    later: (url) => `Šajās 7 dienās saite ir izmantojama vienu reizi. Vēlāk pierakstieties ar šo adresi šeit: ${url}`,
    ignore: 'Ja sūtītāju nepazīstat, neņemiet šo vēstuli vērā: kamēr uzaicinājums nav pieņemts, nekas nemainās.',
  },
  uk: {
    title: `Вас запрошують керувати сайтом ${domain}`,
    invited: {
      owner: `${inviter} запрошує вас керувати входом електронною поштою на сайті ${domain} як власника: налаштуваннями, відвідувачами й командою.`,
      member: `${inviter} запрошує вас керувати входом електронною поштою на сайті ${domain} як учасника: статистикою, журналом і оформленням.`,
    },
    accept: 'Увійдіть, щоб прийняти або відхилити запрошення. Воно дійсне 7 днів.',
    button: 'Переглянути запрошення',
    introduction: 'Щоб переглянути запрошення, відкрийте це посилання:',
    later: (url) => `Протягом цих 7 днів посилання діє один раз. Пізніше увійдіть із цією адресою тут: ${url}`,
    ignore: 'Якщо ви не знаєте відправника, не зважайте на цей лист: доки ви не приймете запрошення, нічого не зміниться.',
  },
  ru: {
    title: `Вас приглашают управлять сайтом ${domain}`,
    invited: {
      owner: `${inviter} приглашает вас управлять входом по электронной почте на сайте ${domain} как владельца: настройками, посетителями и командой.`,
      member: `${inviter} приглашает вас управлять входом по электронной почте на сайте ${domain} как участника: статистикой, журналом и оформлением.`,
    },
    accept: 'Войдите, чтобы принять или отклонить приглашение. Оно действует 7 дней.',
    button: 'Посмотреть приглашение',
    introduction: 'Чтобы посмотреть приглашение, откройте эту ссылку:',
    later: (url) => `В течение этих 7 дней ссылка действует один раз. Позже войдите с этим адресом здесь: ${url}`,
    ignore: 'Если вы не знаете отправителя, не обращайте внимания на это письмо: пока вы не примете приглашение, ничего не изменится.',
  },
};

const invitation =
  (role: WebsiteRole): Template =>
  (language, { publicUrl }) => {
    const words = texts[language];
    return {
      subject: words.title,
      preview: words.accept,
      title: words.title,
      paragraphs: [words.invited[role], words.accept],
      action: { introduction: words.introduction, label: words.button, href: placeholder('link') },
      notes: [words.later(`${publicUrl}/auth`), words.ignore],
    };
  };

/** Sent to an address that is invited to own a website with its linked address: signs in to the portal. */
export const invitedOwner = invitation('owner');

/** Sent to an address that is invited to be a member of a website: signs in to the portal. */
export const invitedMember = invitation('member');
