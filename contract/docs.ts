import { z } from 'zod';

export const DocsSearch = z.object({ q: z.string().trim().min(1).max(200) });

/** Sections of the documentation, best first. */
export const FoundSections = z.array(
  z.object({
    title: z.string().meta({ description: 'Of the page' }),
    heading: z.string(),
    excerpt: z.string(),
    url: z.string(),
  }),
);
