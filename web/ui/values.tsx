import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** Values to paste elsewhere; its children are `Value`. */
export const Values = ({ children }: { children: ReactNode }) => (
  <dl className="divide-y divide-line rounded-control border border-line">{children}</dl>
);

/** A value with its name and a copy button. @param wide the name has more than one short word */
export function Value({ name, value, wide = false }: { name: string; value: string; wide?: boolean }) {
  return (
    <div
      className={`grid grid-cols-[1fr_auto] items-center gap-x-3 pl-3 ${wide ? 'sm:grid-cols-[7.5rem_1fr_auto]' : 'sm:grid-cols-[4rem_1fr_auto]'}`}
    >
      <dt className="pt-2 text-[0.8125rem] text-muted sm:pt-0">{name}</dt>
      <dd className="col-start-1 min-w-0 pb-2 font-mono text-[0.8125rem] leading-5 wrap-anywhere sm:col-start-2 sm:py-2.5">{value}</dd>
      <dd className="col-start-2 row-span-2 row-start-1 sm:col-start-3 sm:row-span-1">
        <CopyButton text={value} what={name.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())} notice={`${name} copied`} />
      </dd>
    </div>
  );
}
