import { type Clause, LegalPage } from './legal-page.tsx';

const clauses: Clause[] = [
  {
    title: 'What we store',
    paragraphs: [
      'Of visitors: the email address, the website that is signed in to, and the times of requests and sign-ins. Of developers also the registered domains and an optional name.',
      'Links, codes, tokens and keys are stored only as one-way hashes. We store no passwords, because there are none.',
      'Network addresses are used to limit how often something can be asked for.',
    ],
  },
  {
    title: 'What we use it for',
    paragraphs: [
      'To send the mail that was asked for, to tell the website which address was proved, to keep accounts safe, to find faults, and to count how the service is used. We sell no data and show no advertisements.',
    ],
  },
  {
    title: 'Cookies and local storage',
    paragraphs: [
      'Cookies hold the sign-in that is under way, the session of a developer, and a device mark that makes remembered accounts work in one browser only. Further cookies and the local storage remember up to five addresses, so that you need not type them again; the small x beside an address removes it from all of them. One cookie holds the language that you chose on the sign-in page of an application, and one, for an hour, the address of a request that was refused because too many emails had been sent to it. One, for ten minutes, tells the pages that a developer is signed in. One binds the requests of a page for a passkey or a verified address to the browser for an hour. For passkeys, one holds random numbers of the passkeys that the browser has used, and two remember for 30 days that the device can keep a passkey and that you declined one.',
      'None of this is used to follow you to other sites.',
    ],
  },
  {
    title: 'Whom we share it with',
    paragraphs: [
      'The website that you sign in to receives your email address. Its owner also sees here which addresses signed in and when, for up to 400 days after the last sign-in of each, and can export and erase them; to have yours erased, you may ask the owner or us.',
      'Providers who carry our mail and our servers process data for us. Authorities receive data only where the law obliges us.',
    ],
  },
  {
    title: 'How long we keep it',
    paragraphs: [
      'Personal data is deleted within 30 days after you ask for it or your account is deleted. Usage data is kept for about 2 years. Records that the law requires, such as invoices, are kept for up to 7 years.',
    ],
  },
  {
    title: 'Your rights',
    paragraphs: [
      'You may ask what we hold about you, have it corrected or deleted, receive a copy, or object to its use. Where the law gives you more rights than these, you have them.',
    ],
  },
  {
    title: 'Children',
    paragraphs: ['The service is not for children: nobody under 13 is permitted to use it. If we learn of such data, we delete it.'],
  },
  {
    title: 'Changes',
    paragraphs: ['When this text changes, the date at its top changes with it. Developers are told of important changes by mail.'],
  },
];

/** /privacy */
export function PrivacyPage() {
  return (
    <LegalPage
      title="Privacy Policy"
      intro="This policy says which personal data Email Auth holds about the visitors of registered websites and about developers, what for, and for how long."
      clauses={clauses}
    />
  );
}
