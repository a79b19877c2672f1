/** Returns whether a text may be an email address: no spaces, one `@`, a dot in the domain. The service checks the rest. */
export const looksLikeEmail = (text: string) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text);

const sites = [
  { name: 'Gmail', url: 'https://mail.google.com/', domains: /^(gmail|googlemail)\.com$/ },
  { name: 'Outlook', url: 'https://outlook.live.com/mail/', domains: /^(outlook|hotmail|live|msn)\.(com|[a-z]{2}|com?\.[a-z]{2})$/ },
];

/** Returns the web mail of an address, when its domain is known. */
export function mailboxSite(email: string): { name: string; url: string } | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return sites.find((site) => site.domains.test(domain));
}
