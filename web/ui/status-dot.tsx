import { cx } from './cx.ts';

const tones = { live: 'bg-accent', off: 'bg-edge', bad: 'bg-danger' };

/** A state as a dot with its word: the colour alone tells nobody anything. */
export function StatusDot({ tone, children }: { tone: keyof typeof tones; children: string }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap text-sm">
      <span aria-hidden="true" className={cx('size-2 rounded-full', tones[tone])} />
      {children}
    </span>
  );
}
