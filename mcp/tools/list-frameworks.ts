import { z } from 'zod';
import { frameworks } from '../../templates/catalog.ts';
import { defineTool } from '../tool.ts';

export const listFrameworks = defineTool({
  name: 'list_frameworks',
  title: 'Frameworks',
  description:
    'Lists the frameworks that there is a ready integration for, by the id that scaffold_integration takes. For any other framework take the one of the same language and fit its files to the project.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ frameworks: z.array(z.object({ id: z.string(), name: z.string(), language: z.string() })) }),
  run: async () => ({ frameworks: frameworks.map(({ id, name, language }) => ({ id, name, language })) }),
  text: ({ frameworks: all }) => all.map(({ id, name, language }) => `${id}: ${name} (${language})`).join('\n'),
});
