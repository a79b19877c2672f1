import { type Clause, LegalPage } from './legal-page.tsx';

const clauses: Clause[] = [
  {
    title: 'The service',
    paragraphs: [
      'Email Auth mails sign-in links and codes to the visitors of registered websites and tells those websites, by a token, which email address was proved. It also offers a portal in which developers manage their websites.',
      'Some services are announced as coming soon or planned. They are no part of these terms until they are offered.',
    ],
  },
  {
    title: 'Your account and your domains',
    paragraphs: [
      'You sign in with your email address. Whoever can read the mail of that address can use your account, so keep your mailbox safe.',
      'You may register a domain only if you control it or act for someone who does. The linked email is the only one that can log in and manage changes for the domain. Someone who proves control of a domain that you have not proved takes over its registration.',
    ],
  },
  {
    title: 'Acceptable use',
    paragraphs: [
      'Send sign-in emails only to people who requested them. Do not use the service to send unsolicited mail, to pretend to be someone else, to access accounts that are not yours, or to harm the service or others.',
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
      clauses={clauses}
    />
  );
}
