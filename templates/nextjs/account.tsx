import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { signedInEmail } from '@/lib/auth';

async function logOut() {
  'use server';
  (await cookies()).delete('session');
  redirect('/');
}

export default async function AccountPage() {
  const email = await signedInEmail();
  if (!email) redirect('/login');
  return (
    <form action={logOut}>
      <p>Signed in as {email}</p>
      <button type="submit">Log out</button>
    </form>
  );
}
