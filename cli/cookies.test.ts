import { expect, test } from 'vitest';
import { createCookieJar } from './cookies.ts';

function answer(...lines: string[]): Headers {
  const headers = new Headers();
  for (const line of lines) headers.append('Set-Cookie', line);
  return headers;
}

test('a jar gives back what was set, __Host- and all', () => {
  const jar = createCookieJar();
  expect(jar.header()).toBeUndefined();
  jar.keep(answer('__Host-admin=ab-c_=; Max-Age=28800; Path=/; HttpOnly; Secure; SameSite=Strict', '__Host-admin_browser=x.y; Path=/'));
  expect(jar.header()).toBe('__Host-admin=ab-c_=; __Host-admin_browser=x.y');
  jar.keep(answer('__Host-admin=new; Max-Age=28800'));
  expect(jar.header()).toBe('__Host-admin=new; __Host-admin_browser=x.y');
});

test('a cookie that is deleted goes, and a line without a name is none', () => {
  const jar = createCookieJar();
  jar.keep(answer('admin=a; Path=/', 'nonsense', '=b'));
  expect(jar.header()).toBe('admin=a');
  jar.keep(answer('admin=; Max-Age=0; Path=/'));
  expect(jar.header()).toBeUndefined();
  jar.keep(answer('admin=a'));
  jar.clear();
  expect(jar.header()).toBeUndefined();
});
