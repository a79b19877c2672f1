import { type ButtonHTMLAttributes, type ComponentType, type ReactNode, useState } from 'react';
import { DownIcon } from './icons.tsx';
import type { MenuDropdownProps, MenuItem } from './menu-dropdown.tsx';
import { toastFailure } from './toast.tsx';

const loadDropdown = () => import('./menu-dropdown.tsx');

/**
 * A button that opens a list of links and buttons. Only the button is in the first load of a page: the list is fetched
 * when the pointer or the focus is on the button, and is rendered from the first click on. @param heading above the items on a phone
 */
export function Menu(props: { label: ReactNode; icon?: ReactNode; heading?: string; items: MenuItem[] }) {
  const { label, icon, heading, items } = props;
  const [Dropdown, setDropdown] = useState<ComponentType<MenuDropdownProps> | null>(null);
  const preload = () => void loadDropdown().catch(() => {});
  const open = () =>
    loadDropdown().then(
      ({ MenuDropdown }) => setDropdown(() => MenuDropdown),
      () => toastFailure('The menu could not be loaded', 'Check your connection and try again.'),
    );
  const button = (attributes: ButtonHTMLAttributes<HTMLButtonElement>) => (
    <button
      type="button"
      className="flex min-h-11 min-w-0 max-w-full items-center gap-2 rounded-control px-3 text-sm text-muted hover:bg-sunk hover:text-ink aria-expanded:bg-sunk aria-expanded:text-ink"
      {...attributes}
    >
      {icon}
      {label}
      <DownIcon className="size-3.5" />
    </button>
  );
  if (Dropdown) return <Dropdown trigger={button({})} heading={heading} items={items} />;
  return button({ 'aria-haspopup': 'menu', 'aria-expanded': false, onClick: open, onPointerOver: preload, onFocus: preload });
}
