import { Dialog } from '../../ui/dialog.tsx';
import { OpenIdValues } from '../../ui/openid-values.tsx';
import type { Website } from './queries.ts';

/** A registered website is an OpenID Connect client: what to paste. */
export function OpenIdDialog({ website, onClose }: { website: Website; onClose: () => void }) {
  return (
    <Dialog title={`OpenID Connect for ${website.displayDomain}`} onClose={onClose}>
      <OpenIdOfWebsite website={website} />
    </Dialog>
  );
}

/** The values that an OpenID Connect library of the website needs. */
export function OpenIdOfWebsite({ website: { domain } }: { website: Website }) {
  const origin = domain === 'localhost' ? `http://${domain}:PORT` : `https://${domain}`;
  return (
    <div className="grid gap-5">
      <p className="text-[0.9375rem] text-muted">
        Your website is an OpenID Connect client already. Paste these values into its library; there is no secret, since it uses PKCE
        (S256).
      </p>
      <OpenIdValues clientId={origin} />
      <p className="text-sm text-muted wrap-anywhere">
        Every redirect URI below <code className="font-mono text-[0.8125rem]">{origin}/</code> is accepted. A host below the domain is a
        client of its own, with its own origin as client ID.
      </p>
    </div>
  );
}
