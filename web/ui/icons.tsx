import { type ReactNode, useEffect, useRef, useState } from 'react';
import { cx } from './cx.ts';

/**
 * Returns an icon: 16 px, 1.5 px strokes, in the color of the text. Icons are decorative: a text or an aria-label stands beside each.
 * @param path its strokes, as the attribute `d` @param shapes what is drawn besides
 */
const icon =
  (path: string, shapes?: ReactNode) =>
  ({ className = 'size-4' }: { className?: string }) => (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {shapes}
      <path d={path} />
    </svg>
  );

// Marked, so that a page contains only the icons that it shows.
export const CrossIcon = /* @__PURE__ */ icon('m4 4 8 8m0-8-8 8');
export const CheckIcon = /* @__PURE__ */ icon('m3 8.5 3.2 3.2L13 5');
export const CopyIcon = /* @__PURE__ */ icon(
  'M3.5 10.5h-.3a.7.7 0 0 1-.7-.7V3.2a.7.7 0 0 1 .7-.7h6.6a.7.7 0 0 1 .7.7v.3',
  <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />,
);
export const ArrowIcon = /* @__PURE__ */ icon('M3 8h10M9 4l4 4-4 4');
export const BackIcon = /* @__PURE__ */ icon('M13 8H3m4 4L3 8l4-4');
export const OpenIcon = /* @__PURE__ */ icon('M6 3.5H3.5v9h9V10M9 3h4v4m0-4L7.5 8.5');
export const DownIcon = /* @__PURE__ */ icon('m4 6 4 4 4-4');
export const PlusIcon = /* @__PURE__ */ icon('M8 3v10M3 8h10');
export const SunIcon = /* @__PURE__ */ icon(
  'M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  <circle cx="8" cy="8" r="2.8" />,
);
export const MoonIcon = /* @__PURE__ */ icon('M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z');
export const GlobeIcon = /* @__PURE__ */ icon(
  'M2 8h12M8 2c2 1.7 2.8 3.7 2.8 6S10 12.3 8 14c-2-1.7-2.8-3.7-2.8-6S6 3.7 8 2Z',
  <circle cx="8" cy="8" r="6" />,
);
export const MailIcon = /* @__PURE__ */ icon('m2.2 4.5 5.8 4.3 5.8-4.3', <rect x="1.75" y="3.25" width="12.5" height="9.5" rx="1.5" />);
export const UserIcon = /* @__PURE__ */ icon('M2.75 13.5c.7-2.3 2.7-3.6 5.25-3.6s4.55 1.3 5.25 3.6', <circle cx="8" cy="5.5" r="2.75" />);
export const SearchIcon = /* @__PURE__ */ icon('m10.2 10.2 3.3 3.3', <circle cx="7" cy="7" r="4.25" />);
export const ImageIcon = /* @__PURE__ */ icon(
  'm2.5 11.5 3.3-3 2.4 2 2.6-2.7 2.9 2.9',
  <>
    <rect x="2" y="2.5" width="12" height="11" rx="1.5" />
    <circle cx="5.75" cy="6" r="1.1" />
  </>,
);
export const DownloadIcon = /* @__PURE__ */ icon('M8 2.5v8m-3.2-3L8 10.7l3.2-3.2M2.5 13.5h11');
export const ChartIcon = /* @__PURE__ */ icon('M3 13V8.5M8 13V3m5 10V6');
export const AppsIcon = /* @__PURE__ */ icon('M2.75 2.75h4v4h-4zm6.5 0h4v4h-4zm-6.5 6.5h4v4h-4zm6.5 0h4v4h-4z');
export const PulseIcon = /* @__PURE__ */ icon('M1.75 8.5h3l2-5 3 9 2-4h2.5');
export const SlidersIcon = /* @__PURE__ */ icon('M2 5h8m3 0h1M2 11h1m3 0h8M10 3v4M6 9v4');
export const MenuIcon = /* @__PURE__ */ icon('M2.5 4.5h11M2.5 8h11M2.5 11.5h11');

/** The logo: an envelope whose flap is a check mark. */
export function Mark({ className = 'size-6' }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" width="24" height="24" className={`shrink-0 ${className}`} fill="none">
      <rect x="1" y="3.5" width="22" height="17" rx="4" className="fill-ink" />
      <path d="m6 10.5 4.6 4.3L18.5 8" className="stroke-page" strokeWidth="2.2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

/** A website's icon, or the initial of its name when it has none or the icon does not load. */
export function SiteIcon({ name, iconUrl, colored }: { name: string; iconUrl: string | null; colored?: boolean }) {
  const [broken, setBroken] = useState<string | null>(null);
  const image = useRef<HTMLImageElement>(null);
  // A rendered page may have failed to load the icon before its script runs.
  useEffect(() => {
    if (image.current?.complete && image.current.naturalWidth === 0) setBroken(iconUrl);
  }, [iconUrl]);
  if (!iconUrl || broken === iconUrl) return <Initial text={name} colored={colored} />;
  return (
    <img
      ref={image}
      src={iconUrl}
      alt=""
      width={36}
      height={36}
      onError={() => setBroken(iconUrl)}
      // Icons are made for a light background and keep it in the dark theme.
      className="size-9 shrink-0 rounded-control border border-line bg-[#fcfcfb] object-contain"
    />
  );
}

/** A tile with the first letter of a host or an email address. @param colored in the color of the buttons */
export function Initial({ text, round = false, colored = false }: { text: string; round?: boolean; colored?: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={cx(
        'grid size-9 shrink-0 place-items-center border text-sm font-semibold uppercase',
        round ? 'rounded-full' : 'rounded-control',
        colored ? 'border-action-edge bg-action text-on-action' : 'border-line bg-sunk text-muted',
      )}
    >
      {Array.from(text)[0]}
    </span>
  );
}
