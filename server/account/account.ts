import type { Output } from '../../contract/routes.ts';
import type { Account } from '../http/serve.ts';

/** What an account may know of itself. */
export function presentAccount({ id, email, name }: Account): Output<'me'> {
  return { id, email, name };
}
