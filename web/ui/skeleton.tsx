import { cx } from './cx.ts';

/** The place of something that is being loaded. */
export const Skeleton = ({ className }: { className: string }) => (
  <span aria-hidden="true" className={cx('pulse block rounded-control bg-sunk', className)} />
);
