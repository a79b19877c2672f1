import { spawnSync } from 'node:child_process';
import type { Recipe } from '../../template-apps.ts';

const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

export const phpRecipes: Recipe[] = [
  {
    id: 'php',
    debianPackages: ['php-cli'],
    available: () => runs('php', '-v'),
    around: { 'index.php': "<?php require 'auth.php'; echo 'home';" },
    command: ['php', '-S', '127.0.0.1:{port}', 'index.php'],
  },
];
