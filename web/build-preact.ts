import type { Plugin } from 'vite';

const replacements: Record<string, string> = {
  react: 'preact/compat',
  'react/jsx-runtime': 'preact/jsx-runtime',
  'react-dom': 'preact/compat',
  'react-dom/client': 'preact/compat/client',
  'react-dom/server': 'preact-render-to-string',
};

/** Uses Preact for the sign-in pages, which are written for React as the portal is (docs/decisions/0021-preact-for-sign-in.md). */
export const preact: Plugin = {
  name: 'preact',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'signin' || name === 'signinServer',
  resolveId: {
    filter: { id: /^react(?:-dom)?(?:$|\/)/ },
    handler(id, importer) {
      const replacement = replacements[id];
      if (!replacement) this.error(`${id} has no replacement in web/build-preact.ts.`);
      return this.resolve(replacement, importer, { skipSelf: true });
    },
  },
};
