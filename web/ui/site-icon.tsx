import { useState } from 'react';
import { Initial } from './initial.tsx';

/** A site's icon, or its initial where there is none or it does not load; it stands beside the site's name and takes the same place either way. */
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
      // Icons are made for a light ground; in the dark theme too they keep one.
      className="size-9 shrink-0 rounded-control border border-line bg-[#fcfcfb] object-contain"
    />
  );
}
