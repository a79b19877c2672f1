import { ApiError } from '../../contract/client.ts';
import { PROOF_SECONDS } from '../../contract/limits.ts';
import { useUser } from '../lib/session.ts';
import { storeDraft, storeReturnPath } from '../lib/storage.ts';
import { paths } from '../pages.ts';
import { ButtonLink } from './button.tsx';

/** Whether a call failed because the address has to be proven again. */
export const isProofNeeded = (error: unknown): boolean => error instanceof ApiError && error.code === 'proof_needed';

/** Returns the address of a sign-in that proves an address again. */
export const proofPath = (email: string, language: string) =>
  `${paths.signIn}?${new URLSearchParams({ max_age: String(PROOF_SECONDS), login_hint: email, language })}`;

/**
 * Leads through a sign-in that proves the address, and back to a form of the portal.
 * @param form its name, under which `values` are kept, and the parameter `add` of its page that opens it again
 */
export function ProofNeeded({ form, values }: { form: string; values: object }) {
  const { data: user } = useUser();
  const keep = () => {
    storeDraft(form, values);
    storeReturnPath(`${location.pathname}?${new URLSearchParams({ add: form })}`);
  };
  return (
    <div role="alert" className="grid gap-3 rounded-control border border-line bg-sunk px-4 py-3 text-[0.9375rem]">
      <p>
        Your last sign-in by email or passkey was more than ten minutes ago. Sign in once more: then you come back to this form, and what
        you typed is still there.
      </p>
      <ButtonLink href={proofPath(user?.email ?? '', 'en')} onClick={keep} className="justify-self-start">
        Send me a sign-in email
      </ButtonLink>
    </div>
  );
}
