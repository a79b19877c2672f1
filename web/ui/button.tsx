import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ElementType, Ref } from 'react';
import { cx } from './cx.ts';
import { Spinner } from './spinner.tsx';

type Look = 'primary' | 'secondary' | 'quiet' | 'danger';

const base =
  'inline-flex min-h-11 items-center justify-center gap-2 rounded-control py-2 font-medium leading-5 text-center transition-colors';
const sizes = { normal: 'px-4 text-[0.9375rem]', small: 'px-3 text-sm' };
const looks: Record<Look, string> = {
  primary: 'bg-ink text-page hover:bg-ink/85 disabled:bg-ink/60',
  secondary: 'border border-line bg-panel text-ink hover:border-edge hover:bg-sunk disabled:text-muted',
  quiet: 'text-muted hover:bg-sunk hover:text-ink disabled:hover:bg-transparent disabled:hover:text-muted',
  danger: 'border border-danger/40 bg-danger-tint text-danger hover:border-danger',
};

/**
 * A button. While `busy` it keeps its place in the tab order, shows that it works and does nothing.
 */
export function Button({
  look = 'primary',
  small = false,
  busy = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; small?: boolean; busy?: boolean; ref?: Ref<HTMLButtonElement> }) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={cx(base, sizes[small ? 'small' : 'normal'], looks[look], busy && 'opacity-80', className)}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

/** A link that looks like a button. @param as the router's link component where the app has one */
export function ButtonLink({
  look = 'primary',
  as: Anchor = 'a',
  className,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; look?: Look; as?: ElementType }) {
  return <Anchor {...rest} className={cx(base, sizes.normal, looks[look], className)} />;
}
