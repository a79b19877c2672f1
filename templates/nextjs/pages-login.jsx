import { AUTH, ownPath, SITE, STATE, setCookie } from '__LOGINUP__lib/auth';

const STATE_SECONDS = 3600;

export const getServerSideProps = async ({ query, res }) => {
  const state = crypto.randomUUID();
  setCookie(res, STATE, state, STATE_SECONDS);
  const forwardUrl = `${SITE.origin}__CALLBACK__?${new URLSearchParams({ state, return_to: ownPath(query.return_to) })}`;
  const page = new URLSearchParams({ forward_url: forwardUrl, language: '__LANGUAGE__' });
  return { redirect: { destination: `${AUTH}/auth?${page}`, statusCode: 303 } };
};

export default function LoginPage() {
  return null;
}
