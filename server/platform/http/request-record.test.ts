import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { beginRequest } from './request-record.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const idFor = (traceparent?: string | string[]) => beginRequest({ headers: { traceparent } } as unknown as IncomingMessage).id;

test.each([`00-${TRACE}-00f067aa0ba902b7-01`, `00-${TRACE}-00f067aa0ba902b7-00`, `cc-${TRACE}-00f067aa0ba902b7-01-what-comes-later`])(
  'continues the trace of %s',
  (traceparent) => {
    expect(idFor(traceparent)).toBe(TRACE);
  },
);

test.each([
  undefined,
  '',
  'x',
  `00-${TRACE}-00f067aa0ba902b7`,
  `00-${TRACE}-00f067aa0ba902b7-01-more`,
  `ff-${TRACE}-00f067aa0ba902b7-01`,
  `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  ` 00-${TRACE}-00f067aa0ba902b7-01`,
  `00-${TRACE}-00f067aa0ba902b7-01\n`,
])('gives a request with the traceparent %j a new id each time', (traceparent) => {
  const ids = [idFor(traceparent), idFor(traceparent)];
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set([...ids, TRACE]).size).toBe(3);
});
