import { z } from 'zod';

/** Without blanks and control characters, since programs show it in terminals. */
const plain = z.string().regex(/^[\x21-\x7e]{1,2000}$/);

/** What a program must know of a service before it works with it; nothing here is secret. */
export const About = z.object({
  name: z.literal('emailauth').meta({ description: 'Tells this service from any other web server' }),
  version: plain,
  mode: z.enum(['local', 'production']),
  time: z.iso.datetime().meta({ description: "The service's clock" }),
  mail: z.object({
    domain: plain.meta({ description: 'Of the sender, as A-label' }),
    dkim: z
      .object({
        domain: plain,
        selector: plain,
        publicKey: plain.meta({ description: "What the DNS record's p= has to say" }),
      })
      .nullable()
      .meta({ description: 'Null: the service does not sign; its mail server may' }),
    delivered: z.boolean().meta({ description: 'False: mails stay in the built-in inbox' }),
  }),
});
