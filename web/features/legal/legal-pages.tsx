import { PageHeading } from '../../ui/page-heading.tsx';

type Clause = { title: string; paragraphs: string[] };

/** Returns a day as a text, and as the attribute of `time`. */
export const dayOf = (date: Date) => ({
  text: date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' }),
  dateTime: date.toLocaleDateString('sv'),
});

/** A legal text. Its date is the present day: of the service, until a script corrects it by the time zone of the visitor. */
function LegalPage({ title, intro, clauses }: { title: string; intro: string; clauses: Clause[] }) {
  const { text, dateTime } = dayOf(new Date());
  return (
    <article className="mx-auto max-w-2xl py-10 sm:py-16">
      <PageHeading title={title} className="text-3xl leading-9" />
      <p className="mt-2 text-sm text-muted">
        Last updated:{' '}
        <time data-today dateTime={dateTime}>
          {text}
        </time>
      </p>
      <p className="mt-6 leading-7">{intro}</p>
      {clauses.map((clause, index) => (
        <section key={clause.title} className="mt-8">
          <h2 className="text-lg font-semibold tracking-tight">
            {index + 1}. {clause.title}
          </h2>
          {clause.paragraphs.map((paragraph) => (
            <p key={paragraph} className="mt-3 leading-7 text-muted">
              {paragraph}
            </p>
          ))}
        </section>
      ))}
    </article>
  );
}

const PRIVACY: Clause[] = [
  {
    title: 'What we store',
    paragraphs: [
      'Of visitors: the email address, the website that is signed in to, and the times of requests and sign-ins. Of developers also the registered domains and an optional name, and with what they do here the browser and the part of the network address that its neighbors share.',
      'Links, codes, tokens and keys are stored only as one-way hashes. We store no passwords, because there are none.',
      'Network addresses are used to limit how often something can be asked for.',
    ],
  },
  {
    title: 'What we use it for',
    paragraphs: [
      'To send the emails that were requested, to tell the website which address was proven, to keep accounts safe, to find faults, and to count how the service is used. We sell no data and show no advertisements.',
    ],
  },
  {
    title: 'Cookies and local storage',
    paragraphs: [
      'Cookies hold the sign-in that is under way, the session of a developer, and a device mark that makes remembered accounts work in one browser only. Further cookies and the local storage remember up to five addresses, so that you need not type them again; the small x beside an address removes it from all of them. One cookie holds the language that you chose on the sign-in page of an application, and one, for an hour, the address of a request that was refused because too many emails had been sent to it. One, for an hour too, recognizes the emails that were requested in this browser, to offer another one when their link has ended. One, for ten minutes, tells the pages that a developer is signed in. One binds the requests of a page for a passkey or a verified address to the browser for an hour. For passkeys, one holds random numbers of the passkeys that the browser has used, and two remember for 30 days that the device can keep a passkey and that you declined one.',
      'None of this is used to follow you to other sites.',
    ],
  },
  {
    title: 'Whom we share it with',
    paragraphs: [
      'The website that you sign in to receives your email address. Its owner also sees here which addresses signed in and when, for up to 400 days after the last sign-in of each, and can export and erase them; to have yours erased, you may ask the owner or us.',
      'Providers who deliver our email and run our servers process data for us. Authorities receive data only where the law obliges us.',
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
    paragraphs: ['The service is not for children: no one under 13 is permitted to use it. If we learn of such data, we delete it.'],
  },
  {
    title: 'Changes',
    paragraphs: ['When this text changes, the date at its top changes with it. We tell developers about important changes by email.'],
  },
];

/** /privacy */
export function PrivacyPage() {
  return (
    <LegalPage
      title="Privacy Policy"
      intro="This policy says which personal data Email Auth holds about the visitors of registered websites and about developers, what for, and for how long."
      clauses={PRIVACY}
    />
  );
}

const TERMS: Clause[] = [
  {
    title: 'The service',
    paragraphs: [
      'Email Auth sends sign-in links and codes by email to the visitors of registered websites and tells those websites, by a token, which email address was proven. It also offers a portal in which developers manage their websites.',
      'Some services are announced as coming soon or planned. They are no part of these terms until they are offered.',
    ],
  },
  {
    title: 'Your account and your domains',
    paragraphs: [
      'You sign in with your email address. Anyone who can read the email of that address can use your account, so keep your mailbox safe.',
      'You may register a domain only if you control it or act for someone who does. The linked email is the only one that can log in and manage changes for the domain. Someone who proves control of a domain that you have not proven takes over its registration.',
    ],
  },
  {
    title: 'Acceptable use',
    paragraphs: [
      'Send sign-in emails only to people who requested them. Do not use the service to send unsolicited email, to pretend to be someone else, to access accounts that are not yours, or to harm the service or others.',
      'We may limit or suspend what breaks these rules, and tell you why unless the law forbids it.',
    ],
  },
  {
    title: 'Fees',
    paragraphs: [
      'The service is free of charge at present. Should you agree to a paid plan, its fees are due on the date of the invoice. Amounts that are overdue bear a late fee of 1.5% per month, or the highest rate that the law allows if that is lower.',
    ],
  },
  {
    title: 'Availability and changes',
    paragraphs: [
      'We work to keep the service available and correct, and do not promise that it is never interrupted. We may change it; a change that takes something away from you is announced in good time.',
    ],
  },
  {
    title: 'Disclaimer and liability',
    paragraphs: [
      'The service is provided as it is. As far as the law allows, we give no warranty beyond what these terms say and are not liable for indirect or consequential damage.',
      'Our total liability is limited to the greater of 100 USD and the fees that you paid in the 12 months before the claim.',
    ],
  },
  {
    title: 'Ending',
    paragraphs: [
      'You may delete your websites and stop using the service at any time. We may end an account that breaks these terms. What by its nature outlasts the end, such as the limits of liability, stays in force.',
    ],
  },
  {
    title: 'Disputes',
    paragraphs: [
      'Tell us first. Both sides try for 30 days from that notice to settle a dispute between themselves before either brings a claim.',
    ],
  },
];

/** /tos */
export function TermsPage() {
  return (
    <LegalPage
      title="Terms of Service"
      intro="These terms apply to everybody who registers a website with Email Auth or signs in to its portal. By using the service you agree to them."
      clauses={TERMS}
    />
  );
}
