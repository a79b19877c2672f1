import type { LookupFunction } from 'node:net';
import type { Until } from '../../contract/check.ts';

/** The DNS as a site is looked at with it. */
export type SiteNames = {
  /** TXT records, each as one text. A name that is not there has none; a name server that fails is an error. */
  texts(name: string): Promise<string[]>;
  /** For connections to a site: every one asks it, so that what it leaves out is never connected to. */
  lookup: LookupFunction;
};

/** With what a site is looked at, and how long. */
export type Look = Until & {
  names: SiteNames;
  /** Who asks, for the site's log. */
  userAgent: string;
  ways: Ways;
};

/** What to do next where the checks run, in words that stand within a sentence. */
export type Ways = {
  /** How the callback's address is given, such as `--url`. */
  url: string;
  /** What writes a callback, as a sentence. */
  write: string;
  /** What signs somebody in, as a sentence. */
  signIn: string;
  /** What checks the proof of a domain. */
  prove(domain: string): string;
  /** What registers a domain. */
  register(domain: string): string;
};
