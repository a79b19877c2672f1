import type { GetServerSideProps } from 'next';
import { setCookie } from '../lib/auth';

export const getServerSideProps: GetServerSideProps = async ({ req, res }) => {
  if (req.method !== 'POST') return { notFound: true };
  setCookie(res, 'login_session', '', 0);
  return { redirect: { destination: '/', statusCode: 303 } };
};

export default function LogoutPage() {
  return null;
}
