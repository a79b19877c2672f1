import { errorText } from '../../lib/api.ts';
import { useAct } from '../../lib/calls.ts';
import { Button } from '../../ui/button.tsx';
import { OpenIdValues, Value, Values } from '../../ui/copyable.tsx';
import { isProofNeeded, ProofNeeded } from '../../ui/proof-needed.tsx';
import { Alert } from '../../ui/states.tsx';
import { type Claim, WEBSITES, type Website } from './website.ts';

/** The DNS record and the file that verify a domain, with a button that makes the service check them. */
export function Proof({ domain, proof: given, onProven }: { domain: string; proof: Claim['proof']; onProven: () => void }) {
  const prove = useAct('proveWebsite', WEBSITES);
  const needsProof = isProofNeeded(prove.error) && !prove.isPending;
  // The value changes when another account verifies the domain in the meantime.
  const claim = useAct('claimWebsite');
  const proof = claim.data?.proof ?? given;
  return (
    <div className="grid gap-5">
      <section>
        <h3 className="mb-2 text-sm font-medium">Add a DNS record</h3>
        <Values>
          <Value name="Name" value={proof.record} />
          <Value name="Type" value="TXT" />
          <Value name="Value" value={proof.value} />
        </Values>
      </section>
      <section>
        <h3 className="mb-2 text-sm font-medium">Or put a file on the site</h3>
        <Values>
          <Value name="Address" value={proof.fileUrl} />
          <Value name="Content" value={proof.fileBody} />
        </Values>
      </section>
      {prove.error && !prove.isPending && !needsProof && <Alert>{errorText(prove.error, 'The proof could not be checked.')}</Alert>}
      {needsProof && <ProofNeeded form="website" values={{ domain }} />}
      <Button
        className="sm:justify-self-start"
        busy={prove.isPending}
        onClick={() => prove.mutate({ domain }, { onSuccess: onProven, onError: () => claim.mutate({ domain }) })}
      >
        {prove.isPending ? 'Checking...' : 'Check now'}
      </Button>
    </div>
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
