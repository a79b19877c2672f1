import { setCookie } from '../lib/auth';

export const getServerSideProps = async ({ req, res }) => {
  if (req.method !== 'POST') return { notFound: true };
  setCookie(res, 'login_session', '', 0);
  return { redirect: { destination: '/', statusCode: 303 } };
};

export default function LogoutPage() {
  return null;
}
