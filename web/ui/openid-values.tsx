import { Value, Values } from './values.tsx';

/** What an OpenID Connect client needs to know of this service, with copy buttons. */
export function OpenIdValues({ clientId }: { clientId: string }) {
  const issuer = location.origin;
  return (
    <div className="grid gap-3">
      <Values>
        <Value wide name="Issuer" value={issuer} />
        <Value wide name="Client ID" value={clientId} />
      </Values>
      <details className="rounded-control border border-line">
        <summary className="flex min-h-11 cursor-pointer items-center px-3 text-sm font-medium">
          Endpoints, for a client without discovery
        </summary>
        <dl className="divide-y divide-line border-t border-line">
          {ENDPOINTS.map(([name, path]) => (
            <Value key={name} wide name={name} value={issuer + path} />
          ))}
        </dl>
      </details>
    </div>
  );
}

const ENDPOINTS = [
  ['Discovery', '/.well-known/openid-configuration'],
  ['Authorization', '/oauth/authorize'],
  ['Token', '/oauth/token'],
  ['User info', '/oauth/userinfo'],
  ['JWKS', '/oauth/jwks'],
  ['Logout', '/oauth/logout'],
] as const;
