import { parse } from 'postcss';
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
      if (!replacement) this.error(`${id} has no replacement in web/build-signin.ts.`);
      return this.resolve(replacement, importer, { skipSelf: true });
    },
  },
};

/**
 * Removes the cascade layers from the styles of the sign-in pages: a browser that does not know `@layer` ignores everything in it. The
 * layers stand in their order in the file, and the base layer has no rule that a utility has to overrule by its layer alone.
 */
export const flatStyles: Plugin = {
  name: 'flat-styles',
  enforce: 'post',
  applyToEnvironment: ({ name }) => name === 'signin',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'asset' && file.fileName.endsWith('.css')) file.source = flatten(String(file.source));
    }
  },
};

function flatten(css: string): string {
  const styles = parse(css);
  // Tailwind sets the defaults of its variables only where it knows that `@property` is missing.
  styles.walkAtRules('supports', (rule) => void (rule.params.includes('margin-trim') && rule.replaceWith(rule.nodes ?? [])));
  styles.walkAtRules('layer', (rule) => void rule.replaceWith(rule.nodes ?? []));
  return styles.toString();
}
