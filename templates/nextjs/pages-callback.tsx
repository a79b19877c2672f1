import { AUTH, openSession, ownPath, SITE, setCookie } from '__UP__lib/auth';
import type { GetServerSideProps } from 'next';

export const getServerSideProps: GetServerSideProps = async ({ query, req, res }) => {
  const { state, token, return_to } = query;
  const refuse = (status: 400 | 503) => {
    res.statusCode = status;
    return { props: { status } };
  };
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (typeof token !== 'string' || !state || state !== req.cookies.login_state) return refuse(400);
  const result = await fetch(`${AUTH}/api/verify-token?${new URLSearchParams({ token, domain: SITE.hostname })}`, {
    signal: AbortSignal.timeout(5000),
  })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503);
  if (!result.valid) return refuse(400);
  setCookie(res, 'login_state', '', 0);
  openSession(res, result.email);
  return { redirect: { destination: ownPath(return_to), statusCode: 303 } };
};

export default function RefusedPage({ status }: { status: number }) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return (
    <p>
      {reason} <a href="__LOGIN__">Try again</a>
    </p>
  );
}
