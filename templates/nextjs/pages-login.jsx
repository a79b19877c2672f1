import { AUTH, ownPath, SITE, setCookie } from '__LOGINUP__lib/auth';

export const getServerSideProps = async ({ query, res }) => {
  const state = crypto.randomUUID();
  setCookie(res, 'login_state', state, 900);
  const forwardUrl = `${SITE.origin}__CALLBACK__?${new URLSearchParams({ state, return_to: ownPath(query.return_to) })}`;
  const page = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
  return { redirect: { destination: `${AUTH}/auth?${page}`, statusCode: 303 } };
};

export default function LoginPage() {
  return null;
}
