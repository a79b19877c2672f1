/** Web mail by the domains of its addresses: name, page without `https://`, domains. `.*` is `.com` or the ending of a country. */
const providers: readonly (readonly [name: string, page: string, domains: string])[] = [
  ['Gmail', 'mail.google.com/', 'gmail.com googlemail.com'],
  ['Outlook', 'outlook.live.com/mail/', 'outlook.* hotmail.* live.* msn.com'],
  ['Yahoo', 'mail.yahoo.com/', 'yahoo.* ymail.com rocketmail.com'],
  ['iCloud', 'www.icloud.com/mail', 'icloud.com me.com mac.com'],
  ['Proton Mail', 'mail.proton.me/', 'proton.me protonmail.com pm.me'],
  ['inbox.lv', 'www.inbox.lv/', 'inbox.lv'],
  ['inbox.lt', 'www.inbox.lt/', 'inbox.lt'],
  ['ukr.net', 'mail.ukr.net/', 'ukr.net'],
  ['i.ua', 'mail.i.ua/', 'i.ua'],
  ['one.lt', 'www.one.lt/', 'one.lt'],
  ['Mail.ru', 'e.mail.ru/', 'mail.ru bk.ru list.ru inbox.ru internet.ru'],
  ['Yandex', 'mail.yandex.com/', 'yandex.* ya.ru'],
  ['Rambler', 'mail.rambler.ru/', 'rambler.ru'],
  ['GMX', 'www.gmx.net/', 'gmx.net gmx.de gmx.at gmx.ch'],
  ['GMX', 'www.gmx.com/', 'gmx.*'],
  ['WEB.DE', 'web.de/', 'web.de'],
  ['T-Online', 'email.t-online.de/', 't-online.de'],
  ['Seznam', 'email.seznam.cz/', 'seznam.cz email.cz post.cz'],
  ['WP', 'poczta.wp.pl/', 'wp.pl'],
  ['Onet', 'poczta.onet.pl/', 'onet.pl op.pl vp.pl'],
  ['Zoho Mail', 'mail.zoho.com/', 'zoho.* zohomail.*'],
  ['Fastmail', 'app.fastmail.com/', 'fastmail.com fastmail.fm'],
  ['Tuta', 'app.tuta.com/', 'tuta.com tutanota.com tutanota.de'],
  ['AOL', 'mail.aol.com/', 'aol.* aim.com'],
];

/**
 * Returns the web mail of an address, when its domain is known. Gmail shows the emails of the last hour, those in the spam folder
 * too, and asks a person who is signed out to sign in first.
 */
export function mailboxSite(email: string): { name: string; url: string } | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const anyEnding = domain.replace(/\.(com|(com?\.)?[a-z]{2})$/, '.*');
  const found = providers.find(([, , domains]) => domains.split(' ').some((own) => own === domain || own === anyEnding));
  if (!found) return undefined;
  const [name, page] = found;
  const search = name === 'Gmail' ? `mail/u/${encodeURIComponent(email)}/#search/in%3Aanywhere+newer_than%3A1h` : '';
  return { name, url: `https://${page}${search}` };
}
