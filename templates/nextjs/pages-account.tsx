import type { GetServerSideProps } from 'next';
import { signedInEmail } from '../lib/auth';

export const getServerSideProps: GetServerSideProps = async ({ req, res, resolvedUrl }) => {
  res.setHeader('Cache-Control', 'no-store');
  const email = signedInEmail(req);
  if (email) return { props: { email } };
  return { redirect: { destination: `__LOGIN__?${new URLSearchParams({ return_to: resolvedUrl })}`, statusCode: 303 } };
};

export default function AccountPage({ email }: { email: string }) {
  return (
    <form method="post" action="/logout">
      <p>Signed in as {email}</p>
      <button type="submit">Log out</button>
    </form>
  );
}
