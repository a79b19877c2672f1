import { Link } from 'wouter';
import { LOCALHOST } from '../lib/local-mode.ts';
import { registeredPath } from '../paths.ts';

/** Below a field for a domain that contains this computer: the way on. */
export const LocalhostNote = () => (
  <>
    localhost needs no registration:{' '}
    <Link href={registeredPath(LOCALHOST)} className="text-accent underline underline-offset-2">
      continue to the code
    </Link>
  </>
);
