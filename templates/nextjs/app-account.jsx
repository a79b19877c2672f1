import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { Suspense } from 'react';
import { COOKIE, SESSION, signedInEmail } from '../../lib/auth';

// Next.js compares the Origin of the form with the host, and refuses one of another website.
async function logOut() {
  'use server';
  (await cookies()).set(SESSION, '', { ...COOKIE, maxAge: 0 });
  redirect('/');
}

// The session is known at request time only, so what reads it is inside `<Suspense>`: the rest of the page can be prerendered. Next.js
// sends pages that read cookies or headers with `Cache-Control: no-store`.
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
