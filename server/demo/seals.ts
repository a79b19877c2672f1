import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a sealed text is for; one purpose's seal is worth nothing for another. */
type SealPurpose = 'state' | 'pending' | 'session';

/** Texts that only this shop can have made, so that every worker and instance knows them without a store. */
type Seals = {
  /** @param seconds how long it is good for */
  seal(purpose: SealPurpose, text: string, seconds: number): string;
  /** @returns the text, or null for a forged, foreign or old one */
  open(purpose: SealPurpose, sealed: unknown): string | null;
};

export function createSeals(secretKey: Buffer, now: () => number = Date.now): Seals {
  const key = createHmac('sha256', secretKey).update('demo shop').digest();
  const mark = (purpose: SealPurpose, body: string) => createHmac('sha256', key).update(`${purpose}\n${body}`).digest('base64url');
  return {
    seal: (purpose, text, seconds) => {
      const body = Buffer.from(JSON.stringify({ text, until: now() + seconds * 1000 })).toString('base64url');
      return `${body}.${mark(purpose, body)}`;
    },
    open: (purpose, sealed) => {
      if (typeof sealed !== 'string') return null;
      const [body, given, ...rest] = sealed.split('.');
      const right = Buffer.from(mark(purpose, body));
      const shown = Buffer.from(given ?? '');
      if (rest.length > 0 || shown.length !== right.length || !timingSafeEqual(shown, right)) return null;
      const { text, until } = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
      return until > now() ? text : null;
    },
  };
}
