import { AUTH, cookieOf, openSession, ownPath, SITE, STATE, setCookie } from '__UP__lib/auth';

export const getServerSideProps = async ({ query, req, res }) => {
  const { state, token, return_to } = query;
  const expected = cookieOf(req, STATE);
  const login = `__LOGIN__?${new URLSearchParams({ return_to: ownPath(return_to) })}`;
  const refuse = (status) => {
    res.statusCode = status;
    return { props: { status, login } };
  };
  if (typeof token !== 'string' || !token || !state) return refuse(400);
  // The state has expired, or the link was opened in another browser: the sign-in starts over.
  if (expected === undefined) return { redirect: { destination: login, statusCode: 303 } };
  // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
  if (state !== expected) return refuse(400);
  const result = await fetch(`${AUTH}/api/verify-token?${new URLSearchParams({ token, domain: SITE.hostname })}`, {
    signal: AbortSignal.timeout(5000),
  })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (!result) return refuse(503);
  if (!result.valid) return refuse(400);
  setCookie(res, STATE, '', 0);
  openSession(res, result.email);
  return { redirect: { destination: ownPath(return_to), statusCode: 303 } };
};

export default function RefusedPage({ status, login }) {
  const reason = status === 503 ? 'Sign-in is not available at the moment.' : 'This sign-in is not valid in this browser.';
  return (
    <p>
      {reason} <a href={login}>Try again</a>
    </p>
  );
}
