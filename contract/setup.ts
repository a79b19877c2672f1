import { z } from 'zod';
import { DomainParams, WebsiteParams } from './websites.ts';

/** The steps of the set-up of a website, in their order. */
export const SETUP_STEPS = ['link', 'callback', 'sign_in', 'proof', 'mail'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

export const WebsiteSetupQuery = DomainParams;

/** A step with its state. */
export const SetupStepState = z.object({
  step: z.enum(SETUP_STEPS).meta({
    description:
      'link: a page of the website begins a sign-in; callback: it exists and rejects a made-up token; sign_in: the website verified a token; proof: the domain is verified; mail: an email was accepted',
  }),
  state: z.enum(['open', 'done', 'failed']).meta({ description: 'failed: a check failed, or it worked before and something is wrong now' }),
  text: z.string().meta({ description: 'What is known, as a sentence' }),
  fix: z.string().nullable().meta({ description: 'What to do; null: nothing' }),
});

/** How far the set-up of a website is. */
export const WebsiteSetup = z.object({
  complete: z.boolean().meta({ description: 'Whether every step is done' }),
  steps: z.array(SetupStepState).meta({ description: 'All steps, in their order' }),
  callback: z.string().meta({ description: 'The address that the callback was last checked at, or would be' }),
  cursor: z
    .string()
    .nullable()
    .meta({ description: 'For `after` of websiteEvents, which then returns what changes the steps; null: not known at this moment' }),
});

const MAX_URL = 2048;

export const CallbackCheckRequest = WebsiteParams.extend({
  url: z.string().trim().max(MAX_URL).optional().meta({
    description:
      "The callback, on a host of the website; omitted: /auth/callback of the domain. In local mode also one on the service's own machine",
  }),
});

/** What a check of a callback found. */
export const CallbackCheck = z.object({
  callback: z.string(),
  at: z.string(),
  results: z.array(
    z.object({
      id: z.string().meta({ description: 'callback, callback_refusal, login or login_cookie' }),
      ok: z.boolean().nullable().meta({ description: 'null: it could not be decided' }),
      detail: z.string().meta({ description: 'What was found, as a sentence' }),
      fix: z.string().meta({ description: 'What to do; empty: nothing' }),
    }),
  ),
});
