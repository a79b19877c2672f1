import { SESSION, SITE, setCookie } from '../lib/auth';

export const getServerSideProps = async ({ req, res }) => {
  if (req.method !== 'POST') return { notFound: true };
  // A form of another website must not sign the visitor out.
  if (req.headers.origin !== SITE.origin && req.headers['sec-fetch-site'] !== 'same-origin') {
    res.statusCode = 403;
    return { props: {} };
  }
  setCookie(res, SESSION, '', 0);
  return { redirect: { destination: '/', statusCode: 303 } };
};

export default function LogoutPage() {
  return null;
}
