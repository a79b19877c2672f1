import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Disclosure } from './disclosure.tsx';
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
      <p className="text-sm">
        <Link href={`${paths.guide}/openid-connect`} className="text-accent underline underline-offset-2">
          Configurations of common clients
        </Link>
      </p>
      <Disclosure summary="Endpoints, for a client without discovery">
        <dl className="divide-y divide-line">
          {ENDPOINTS.map(([name, path]) => (
            <Value key={name} wide name={name} value={issuer + path} />
          ))}
        </dl>
      </Disclosure>
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
