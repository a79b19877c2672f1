import { existsSync } from 'node:fs';
import { type Recipe, runs } from '../recipe.ts';
import { laravelStarter } from './laravel-starter.ts';
import { wordpressStarter } from './wordpress-starter.ts';

/** Whether there is a PHP, with these extensions. */
const hasPhp = (...extensions: string[]) =>
  runs('php', '-r', `exit(${['1', ...extensions.map((name) => `extension_loaded('${name}')`)].join(' && ')} ? 0 : 1);`);

/** The PHP templates, each around what its framework's own starter has. */
export const phpRecipes: Recipe[] = [
  {
    id: 'php',
    debianPackages: ['php-cli'],
    available: () => hasPhp(),
    around: { 'index.php': `<?php require 'email-login.php'; echo '<a href="/login">Login with Email</a>';` },
    command: ['php', '-S', '127.0.0.1:{port}', 'index.php'],
  },
  {
    id: 'laravel',
    debianPackages: ['php-cli', 'php-laravel-framework', 'php-guzzlehttp-guzzle', 'php-sqlite3'],
    available: () => existsSync('/usr/share/php/Illuminate/autoload.php') && hasPhp('pdo_sqlite', 'mbstring'),
    around: laravelStarter,
    build: ['sh', '-c', ': > database/database.sqlite && php artisan migrate --force'],
    command: ['php', '-S', '127.0.0.1:{port}', '-t', 'public', 'public/index.php'],
    env: { APP_KEY: `base64:${Buffer.alloc(32, 'k').toString('base64')}` },
  },
  {
    id: 'wordpress',
    debianPackages: ['php-cli', 'php-mysql', 'wordpress', 'mariadb-server-core'],
    available: () => existsSync('/usr/share/wordpress/wp-settings.php') && existsSync('/usr/sbin/mariadbd') && hasPhp('mysqli'),
    around: wordpressStarter,
    build: ['sh', 'install.sh'],
    command: ['sh', 'start.sh', '{port}'],
  },
];
