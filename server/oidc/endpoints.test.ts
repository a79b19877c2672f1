import { expect, test } from 'vitest';
import { endpointAt, interactionPath, PATHS } from './endpoints.ts';

const uid = 'V1StGXR8_Z5jdHi6B-myT';
const paths = {
  ...PATHS,
  resume: `${PATHS.authorization}/${uid}`,
  device_resume: `${PATHS.code_verification}/${uid}`,
  end_session_confirm: '/oauth/logout/confirm',
  end_session_success: '/oauth/logout/success',
  interaction: interactionPath(uid),
  discovery: '/.well-known/openid-configuration',
};

test.each(Object.entries(paths))('the endpoint %s is at %s, and at no other spelling of it', (name, path) => {
  expect(endpointAt(path)?.name).toBe(name);
  const spellings = [
    `${path}/`,
    `${path}//`,
    path.toUpperCase(),
    path.replace('/o', '/O'),
    `/${path}`,
    path.replace(/(.)\//, '$1//'),
    path.replace(/(.)\//, '$1%2f'),
    path.replace(/(.)\//, '$1\\'),
    path.replace(/(.)\//, '$1/./'),
    `/x/..${path}`,
    `${path};x`,
    `${path};`,
    `${path}#x`,
    `${path}%20`,
    `${path} `,
    path.replace('u', '%75').replace('w', '%77'),
    `http://localhost${path}`,
  ];
  for (const spelling of spellings) expect([spelling, endpointAt(spelling)]).toEqual([spelling, null]);
});

test.each(['', '/', '/oauth', '/oauth/', '/oauth/none', '/oauth/authorize/short', `/oauth/token/${uid}`, `/oauth/register/${uid}`, '*'])(
  '%j has no endpoint',
  (path) => expect(endpointAt(path)).toBeNull(),
);
