import { redirect } from 'next/navigation';
import { signedInEmail } from '@/lib/auth';

export default async function AccountPage() {
  const email = await signedInEmail();
  if (!email) redirect('/login');
  return (
    <form method="post" action="/logout">
      <p>Signed in as {email}</p>
      <button type="submit">Log out</button>
    </form>
  );
}
