import { parse } from 'postcss';
import type { Plugin } from 'vite';

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
