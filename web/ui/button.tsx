import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ElementType, Ref } from 'react';
import { cx } from './cx.ts';

/** Shows that something is in progress, which the text beside it names. */
export function Spinner() {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      className="spin size-4 shrink-0"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
    >
      <circle cx="8" cy="8" r="6" opacity="0.25" />
      <path d="M14 8a6 6 0 0 0-6-6" strokeLinecap="round" />
    </svg>
  );
}

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger';

const base =
  'inline-flex min-h-11 items-center justify-center gap-2 rounded-control py-2 font-medium leading-5 text-center transition-colors';
const sizes = { normal: 'px-4 text-[0.9375rem]', small: 'px-3 text-sm' };
const variants: Record<Variant, string> = {
  // Forced colors remove the background, so that only a border shows the button.
  primary: 'forced-colors:border bg-action text-on-action inset-ring inset-ring-action-edge hover:bg-action-hover disabled:bg-action/60',
  secondary: 'border border-line bg-panel text-ink hover:border-edge hover:bg-sunk disabled:text-muted',
  quiet: 'forced-colors:border text-muted hover:bg-sunk hover:text-ink disabled:hover:bg-transparent disabled:hover:text-muted',
  danger: 'border border-danger/40 bg-danger-tint text-danger hover:border-danger',
};

const OFF = 'cursor-default! border border-line bg-sunk text-muted forced-colors:border-[GrayText] forced-colors:text-[GrayText]';

/** A button. While it is `off`, or `busy` with a spinner, it ignores clicks, but can still be focused. */
export function Button({
  variant = 'primary',
  small = false,
  busy = false,
  off = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & {
  variant?: Variant;
  small?: boolean;
  busy?: boolean;
  off?: boolean;
  ref?: Ref<HTMLButtonElement>;
}) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || off || undefined}
      onClick={busy || off ? (event) => event.preventDefault() : onClick}
      className={cx(base, sizes[small ? 'small' : 'normal'], off ? OFF : variants[variant], busy && 'opacity-80', className)}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

/** A link in the style of a button. @param as the router's link component, for pages of the same entry */
export function ButtonLink({
  variant = 'primary',
  small = false,
  as: Anchor = 'a',
  className,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; variant?: Variant; small?: boolean; as?: ElementType }) {
  return <Anchor {...rest} className={cx(base, sizes[small ? 'small' : 'normal'], variants[variant], className)} />;
}
