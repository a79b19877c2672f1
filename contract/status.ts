import { z } from 'zod';

const state = z.enum(['operational', 'degraded', 'down']);

/** What the service has measured of itself, minute by minute. Minutes in which it did not run are not measured. */
export const Status = z.object({
  state,
  checkedAt: z.string().nullable().meta({ description: 'The last probe; null: none yet' }),
  components: z.array(z.object({ id: z.enum(['database', 'mail', 'response']), state })),
  /** Null while the database does not answer. */
  history: z
    .object({
      since: z.string().nullable().meta({ description: 'The first probe of the last 90 days' }),
      uptimePercent: z.number().nullable().meta({ description: 'Last 30 days; null: not enough data yet' }),
      responseMs: z.number().nullable().meta({ description: 'Average of the last 30 days; null: not enough data yet' }),
      days: z
        .array(z.object({ date: z.string(), measured: z.number(), failed: z.number() }))
        .meta({ description: '30 UTC days, oldest first; minutes measured, and those of them that failed' }),
      incidents: z
        .array(
          z.object({
            startedAt: z.string(),
            endedAt: z.string().nullable().meta({ description: 'Null: it goes on' }),
            minutes: z.number(),
            components: z.array(z.string()),
          }),
        )
        .meta({ description: 'Of the last 30 days, newest first, derived from failed probes' }),
    })
    .nullable(),
});
