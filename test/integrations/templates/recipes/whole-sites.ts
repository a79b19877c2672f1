import { execPath as node } from 'node:process';
import type { Recipe } from '../recipe.ts';

const bin = '../node_modules/.bin';

const nextjs = {
  id: 'nextjs',
  available: () => true,
  packages: true as const,
  build: [node, `${bin}/next`, 'build'],
  command: [node, `${bin}/next`, 'start', '--hostname', '127.0.0.1'],
  env: { NEXT_TELEMETRY_DISABLED: '1' },
};
const nextHome = `export default function Home() {
  return <a href="/login">Login with Email</a>;
}`;
const nextTypes = {
  'tsconfig.json': `{
  "compilerOptions": {
    "target": "ES2017",
    "lib": ["dom", "dom.iterable", "esnext"],
    "allowJs": true,
    "skipLibCheck": true,
    "strict": true,
    "noEmit": true,
    "esModuleInterop": true,
    "module": "esnext",
    "moduleResolution": "bundler",
    "resolveJsonModule": true,
    "isolatedModules": true,
    "jsx": "react-jsx",
    "incremental": true,
    "plugins": [{ "name": "next" }],
    "paths": { "@/*": ["./*"] }
  },
  "include": ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"],
  "exclude": ["node_modules"]
}`,
};

const svelteKit = {
  id: 'sveltekit',
  available: () => true,
  packages: true as const,
  around: {
    'svelte.config.js': `import adapter from '@sveltejs/adapter-node';
export default { kit: { adapter: adapter() } };`,
    'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
export default defineConfig({ plugins: [sveltekit()] });`,
    'src/app.html': `<!doctype html>
<html lang="en">
	<head>
		<meta charset="utf-8" />
		<meta name="viewport" content="width=device-width, initial-scale=1" />
		<link rel="icon" href="data:," />
		%sveltekit.head%
	</head>
	<body data-sveltekit-preload-data="hover">
		<div style="display: contents">%sveltekit.body%</div>
	</body>
</html>`,
    'src/routes/+page.svelte': '<a href="/login" data-sveltekit-reload>Login with Email</a>',
  },
  build: [node, `${bin}/vite`, 'build'],
  command: [node, 'build'],
  env: { HOST: '127.0.0.1', ORIGIN: 'http://localhost:{port}' },
};

/** Frameworks that build whole sites: each is built as for its deployment. Around the template is what the framework's own starter has. */
export const wholeSiteRecipes: Recipe[] = [
  {
    ...nextjs,
    around: {
      ...nextTypes,
      'app/layout.tsx': `export default function RootLayout({ children }: Readonly<{ children: React.ReactNode }>) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}`,
      'app/page.tsx': nextHome,
      'next.config.ts': `import type { NextConfig } from 'next';
export default { cacheComponents: true } satisfies NextConfig;`,
    },
  },
  {
    ...nextjs,
    variant: 'javascript',
    around: {
      'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
      'app/page.js': nextHome,
    },
  },
  { ...nextjs, variant: 'pages', around: { ...nextTypes, 'pages/index.tsx': nextHome } },
  { ...nextjs, variant: 'pages-javascript', around: { 'pages/index.js': nextHome } },
  svelteKit,
  {
    ...svelteKit,
    variant: 'typescript',
    around: { ...svelteKit.around, 'tsconfig.json': JSON.stringify({ extends: './.svelte-kit/tsconfig.json' }) },
  },
  {
    id: 'nuxt',
    available: () => true,
    packages: true,
    around: {
      'nuxt.config.ts': "export default defineNuxtConfig({ compatibilityDate: '2025-07-15', devtools: { enabled: true } });",
      'tsconfig.json': '{ "files": [], "references": [] }',
      'app/app.vue': `<template>
  <div>
    <NuxtRouteAnnouncer />
    <NuxtPage />
  </div>
</template>`,
      'app/pages/index.vue': '<template><a href="/login">Login with Email</a></template>',
      // Seals what visitors send, with the secret of the app.
      'server/routes/theme.get.ts': `export default defineEventHandler(async (event) => {
  const session = await useSession(event, { name: 'theme', password: String(process.env.SESSION_SECRET) });
  await session.update(getQuery(event));
  return 'stored';
});`,
    },
    build: [node, `${bin}/nuxt`, 'build'],
    command: [node, '.output/server/index.mjs'],
    env: { NUXT_TELEMETRY_DISABLED: '1', HOST: '127.0.0.1' },
  },
  {
    id: 'astro',
    available: () => true,
    packages: true,
    around: {
      'astro.config.mjs': `import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
export default defineConfig({
  adapter: node({ mode: 'standalone' }),
  security: { allowedDomains: [{ hostname: 'localhost' }] },
});`,
      'tsconfig.json': '{ "extends": "astro/tsconfigs/strict" }',
      'src/pages/index.astro': `<html lang="en">
  <head><meta charset="utf-8" /><title>Astro</title></head>
  <body><a href="/login">Login with Email</a></body>
</html>`,
    },
    build: [node, `${bin}/astro`, 'build'],
    command: [node, 'dist/server/entry.mjs'],
    env: { ASTRO_TELEMETRY_DISABLED: '1', HOST: '127.0.0.1' },
  },
];
