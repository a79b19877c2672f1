import { DropdownMenu } from 'radix-ui';
import type { ElementType, ReactElement } from 'react';

/** An entry of a menu: a link when it has an `href`, else a button. */
export type MenuItem = {
  label: string;
  href?: string;
  /** The router's link component, for pages of the same entry. */
  as?: ElementType;
  current?: boolean;
  onSelect?: () => void;
};

export type MenuDropdownProps = { trigger: ReactElement; heading?: string; items: MenuItem[] };

const itemStyle =
  'flex min-h-11 w-full cursor-pointer items-center gap-2 rounded-control px-3 text-left text-sm outline-none data-highlighted:bg-sunk';

/** The list of a menu, open from the start: the first click renders it. */
export function MenuDropdown({ trigger, heading, items }: MenuDropdownProps) {
  return (
    // Not modal: Radix locks the scrolling by a style element, which the pages' Content-Security-Policy refuses.
    <DropdownMenu.Root defaultOpen modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          loop
          onCloseAutoFocus={(event) => {
            // A page that was opened has focused its heading.
            if (document.activeElement !== document.body) event.preventDefault();
          }}
          className="rise z-40 min-w-56 max-w-[calc(100vw-1rem)] rounded-panel border border-line bg-panel p-1 shadow-raised"
        >
          {heading && (
            <DropdownMenu.Label className="border-b border-line px-3 py-2 text-sm text-muted wrap-anywhere md:hidden">
              {heading}
            </DropdownMenu.Label>
          )}
          {items.map((item) => (
            <Item key={item.label} {...item} />
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item({ label, href, as: Anchor = 'a', current, onSelect }: MenuItem) {
  if (href === undefined) {
    return (
      <DropdownMenu.Item onSelect={onSelect} className={itemStyle}>
        {label}
      </DropdownMenu.Item>
    );
  }
  return (
    <DropdownMenu.Item asChild onSelect={onSelect}>
      <Anchor href={href} className={itemStyle} aria-current={current ? 'page' : undefined}>
        {label}
      </Anchor>
    </DropdownMenu.Item>
  );
}
