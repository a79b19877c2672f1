import { z } from 'zod';

/** What a program must know of a service before it works with it; nothing here is secret. */
export const About = z.object({
  name: z.literal('emailauth').meta({ description: 'Tells this service from any other web server' }),
  version: z.string(),
  mode: z.enum(['local', 'production']),
  time: z.iso.datetime().meta({ description: "The service's clock" }),
  mail: z.object({
    domain: z.string().meta({ description: 'Of the sender, as A-label' }),
    dkim: z
      .object({
        domain: z.string(),
        selector: z.string(),
        publicKey: z.string().meta({ description: "What the DNS record's p= has to say" }),
      })
      .nullable()
      .meta({ description: 'Null: the service does not sign; its mail server may' }),
    delivered: z.boolean().meta({ description: 'False: mails stay in the built-in inbox' }),
  }),
});
