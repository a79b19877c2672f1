const sites = [
  { name: 'Gmail', url: 'https://mail.google.com/', domains: /^(gmail|googlemail)\.com$/ },
  { name: 'Outlook', url: 'https://outlook.live.com/mail/', domains: /^(outlook|hotmail|live|msn)\.(com|[a-z]{2}|com?\.[a-z]{2})$/ },
];

/** Where a mailbox is read, when the address's domain tells. */
export function mailboxSite(email: string): { name: string; url: string } | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return sites.find((site) => site.domains.test(domain));
}
