import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import type { Config } from './config.ts';
import { requireWritable } from './db/client.ts';
import type { Database, JobQuery } from './db/database.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createDescribeError, type DescribeError } from './http/errors.ts';
import { FailureLog } from './http/failure-log.ts';
import { Limits } from './http/limits.ts';
import { dataHeaders } from './http/protection.ts';
import type { Log } from './log.ts';
import type { SecretKeys } from './secrets.ts';

/** In local mode no email leaves the machine, and one developer makes many requests. */
const LOCAL_LIMIT_FACTOR = 100;

/** What every feature of the service is built on. */
export type Platform = {
  /** The version in package.json. */
  version: string;
  config: Config;
  secretKeys: SecretKeys;
  log: Log;
  database: Database;
  /** The pool of the sign-in core: `database.core`. */
  core: Database['core'];
  limits: Limits;
  /** Multiplies every rate limit. */
  limitFactor: number;
  describeError: DescribeError;
  /** Whether the service runs for a developer of this computer (local mode). */
  isLocal: boolean;
  publicUrl: string;
  /** Whether `publicUrl` is an https URL, so that cookies are `__Host-` cookies. */
  secure: boolean;
  /** The number of proxies in front. */
  trustProxy: number;
  /** Origins of our own pages. */
  origins: ReadonlySet<string>;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

/** What a feature adds to the service. */
export type Feature = {
  /** Calls of the API with their handlers. */
  endpoints?: readonly Endpoint[];
  /** What is not a call of the API, in the order in which requests pass it. */
  routers?: readonly Router[];
  jobs?: readonly Job[];
  /** Called once the service listens. */
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
};

/** Scheduled work, which instances share: each run is done once, by one of them. */
export type Job = {
  /** As the log, the metrics and the database name it. */
  name: string;
  /** The minute of every hour at which it runs; null: it runs every minute. */
  minute: number | null;
  /** Called at each connection to the database, before the first run. */
  prepare?(query: JobQuery): Promise<unknown>;
  /**
   * Does what is due. A run that throws is logged, and tried again within five minutes.
   * @param limits.signal ends it between two batches
   * @param limits.maxMs after it, no other batch begins; the next run continues
   */
  run(query: JobQuery, limits: { signal: AbortSignal; maxMs: number }): Promise<unknown>;
};

/** Returns what every feature is built on. */
export function createPlatform(parts: Pick<Platform, 'config' | 'secretKeys' | 'log' | 'database'>): Platform {
  const { config, log, database } = parts;
  const { core } = database;
  const { publicUrl, secure, trustProxy } = config;
  const isLocal = config.mode === 'local';
  const limitFactor = isLocal ? LOCAL_LIMIT_FACTOR : 1;
  return {
    ...parts,
    version: readVersion(),
    core,
    limits: new Limits(core, limitFactor),
    limitFactor,
    describeError: createDescribeError(new FailureLog(log, () => requireWritable(core))),
    isLocal,
    publicUrl,
    secure,
    trustProxy,
    origins: new Set([publicUrl]),
    headers: dataHeaders(secure),
  };
}

function readVersion(): string {
  // The same path from server/platform/ and from the bundle in dist/server/.
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
