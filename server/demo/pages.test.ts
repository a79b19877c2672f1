import fc from 'fast-check';
import { expect, test } from 'vitest';
import { confirmPage, homePage, html, problemPage } from './pages.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='x'>&`;

test('escapes every value in a page', () => {
  for (const page of [homePage({ email: HOSTILE, inbox: true, domain: HOSTILE }), confirmPage(HOSTILE)]) {
    expect(page.html).not.toContain('<script');
    expect(page.html).not.toContain('<img');
    expect(page.html).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;x&#39;&gt;&amp;');
  }
  fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(html`${text}`.html)));
});

test('pages contain no inline style or script, which a strict content security policy forbids', () => {
  for (const page of [homePage({ email: null, inbox: false, domain: 'localhost' }), problemPage('used'), confirmPage('a@shop.example')]) {
    expect(page.html).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
  }
});

test('every problem has an explanation and a link back', () => {
  for (const problem of ['missing', 'wrong_state', 'used', 'expired', 'unknown', 'other_domain', 'unreachable'] as const) {
    expect(problemPage(problem).html).toMatch(/<h1>[A-Z][^<]{10,}<\/h1>\s*<p>[A-Z][^<]{10,}\.<\/p>/);
    expect(problemPage(problem).html).toContain('href="/demo/sign-in"');
    expect(problemPage(problem).html).toContain('href="/demo"');
  }
});
