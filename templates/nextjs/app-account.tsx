import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { Suspense } from 'react';
import { signedInEmail } from '../../lib/auth';

async function logOut() {
  'use server';
  (await cookies()).delete('login_session');
  redirect('/');
}

// The session is known at request time only, so what reads it is inside `<Suspense>`: the rest of the page can be prerendered.
export default function AccountPage() {
  return (
    <Suspense fallback={<p>Loading…</p>}>
      <Account />
    </Suspense>
  );
}

async function Account() {
  const email = await signedInEmail();
  if (!email) redirect('__LOGIN__?return_to=/account');
  return (
    <form action={logOut}>
      <p>Signed in as {email}</p>
      <button type="submit">Log out</button>
    </form>
  );
}
