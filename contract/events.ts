import { z } from 'zod';
import { ATTEMPT_SECONDS, MAX_DOMAIN_INPUT, MAX_EVENT_AGE_SECONDS, MAX_EVENT_WAIT_SECONDS, MAX_LOG_DAYS } from './limits.ts';
import { METHODS, methodNames, OTHER_METHODS } from './methods.ts';
import { signInStates } from './sign-in-states.ts';
import { WebsiteParams } from './websites.ts';

/** Which events to return: those after a cursor, or those of the last `since` seconds. */
export const EventsQuery = z.object({
  domain: z
    .string()
    .min(1)
    .max(MAX_DOMAIN_INPUT)
    .optional()
    .meta({ description: 'One of my websites, or the client ID of one of my applications; omitted: all of them' }),
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'Not a cursor')
    .optional()
    .meta({ description: 'The cursor of the previous response' }),
  since: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_EVENT_AGE_SECONDS)
    .default(600)
    .meta({ description: 'Without `after`: begin so many seconds ago' }),
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_EVENT_WAIT_SECONDS)
    .default(0)
    .meta({ description: 'When there are no events yet, wait for one for so many seconds' }),
});

/** The kinds of events that are of the set-up of a website, and no step of a sign-in. */
export const SETUP_KINDS: readonly string[] = ['callback_checked', 'domain_proven'];

/** One step of a sign-in at a website or application. Contains no link, code or token. */
export const WebsiteEvent = z.object({
  id: z.string().meta({ description: 'Distinguishes the event from all others' }),
  at: z.string(),
  domain: z.string().meta({ description: 'As A-label; the client ID for an application' }),
  name: z.string().meta({ description: 'For people: the domain decoded, or the name of the application' }),
  // A text and not an enum: a program must be able to show the kinds of a later version.
  kind: z.string().meta({
    description: `requested, request_refused, mail_accepted, mail_delayed, mail_refused, mail_expired, opened, address_proven, ${OTHER_METHODS.map((method) => METHODS[method].event.kind).join(', ')}, wrong_browser, link_refused, wrong_address, wrong_code, verified, token_refused, callback_checked or domain_proven; with OpenID Connect also exchanged and client_refused`,
  }),
  reason: z.string().nullable().meta({
    description:
      'Why something was refused; for an email, the code of the mail server; for `opened`, code if it was not the link; for `client_refused`, the error of OpenID Connect and its description',
  }),
  email: z
    .string()
    .nullable()
    .meta({ description: "The visitor's address; masked for an application and until the domain is verified, except in local mode" }),
  level: z.enum(['info', 'success', 'problem']),
  text: z.string().meta({ description: 'What happened, as a sentence' }),
  fix: z.string().nullable().meta({ description: 'What to do about it; null: nothing' }),
  signIn: z.string().nullable().meta({ description: 'The sign-in that it is a step of; null: it is of none, or it is not known of which' }),
  state: z
    .enum(signInStates)
    .nullable()
    .meta({
      description: `What the sign-in has reached with this step, unless it was further already; null: nothing. One that is waiting or sent for ${ATTEMPT_SECONDS} s has ended.`,
    }),
  count: z.number().int().meta({ description: 'More than 1: so many further events of the same kind, in one entry' }),
});

const time = (description: string) => z.iso.datetime().optional().meta({ description });

/** Which part of a website's log to return: what was before a cursor, newest first. */
export const LogQuery = WebsiteParams.extend({
  before: z
    .string()
    .regex(/^\d{1,15}$/, 'Not a cursor')
    .optional()
    .meta({ description: 'The cursor of the previous response; omitted: begin with the newest event' }),
  email: z
    .string()
    .trim()
    .toLowerCase()
    .max(512)
    .optional()
    .meta({ description: 'An address as the log shows it, or the beginning of one' }),
  kind: z
    .string()
    .regex(/^[a-z_]{1,40}$/, 'Not a kind')
    .optional(),
  reason: z.string().max(200).optional(),
  problems: z.enum(['true', 'false']).default('false').meta({ description: 'true: only events of which some need attention' }),
  by: z.enum(['event', 'sign_in']).default('event').meta({
    description:
      'sign_in: whole sign-ins, the newest first, each with all its steps from the first to the last. A filter then applies to the sign-in: it has such a step, and its first step is of this time. Events that are of no sign-in are between them.',
  }),
  state: z.enum(signInStates).optional().meta({ description: 'With `by=sign_in`: the state of the sign-in' }),
  method: z.enum(methodNames).optional().meta({ description: 'With `by=sign_in`: how the visitor signed in' }),
  from: time(`The first time; at most ${MAX_LOG_DAYS} days ago`),
  to: time('Before this time'),
});

/** A part of a website's log. A search that takes long returns what it found so far, which may be nothing. */
export const WebsiteLog = z.object({
  events: z.array(WebsiteEvent).meta({ description: 'Newest first; with `by=sign_in`, see there' }),
  cursor: z.string().nullable().meta({ description: 'For `before` of the next call; null: there are no earlier events' }),
  searchedTo: z.string().meta({ description: 'All events since this time are in this response or in earlier ones' }),
  latest: z
    .string()
    .nullable()
    .meta({ description: 'Without `before`: for `after` of websiteEvents, which then returns the later events' }),
});

export const WebsiteEvents = z.object({
  events: z.array(WebsiteEvent).meta({ description: 'Oldest first' }),
  cursor: z.string().meta({ description: 'For `after` of the next call' }),
  more: z.boolean().meta({ description: 'Whether there are later events already' }),
});
