import { useState } from 'react';

/** A website's icon, or the initial of its name when it has none or the icon does not load. */
export function SiteIcon({ name, iconUrl }: { name: string; iconUrl: string | null }) {
  const [broken, setBroken] = useState<string | null>(null);
  if (!iconUrl || broken === iconUrl) return <Initial text={name} />;
  return (
    <img
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

/** A tile with the first letter of a host or an email address. */
export function Initial({ text, round = false }: { text: string; round?: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={`grid size-9 shrink-0 place-items-center border border-line bg-sunk text-sm font-semibold text-muted uppercase ${round ? 'rounded-full' : 'rounded-control'}`}
    >
      {Array.from(text)[0]}
    </span>
  );
}
