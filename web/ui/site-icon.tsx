import { useEffect, useRef, useState } from 'react';
import { cx } from './cx.ts';

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
