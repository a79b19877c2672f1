import { type Recipe, runs } from '../recipe.ts';

export const phpRecipes: Recipe[] = [
  {
    id: 'php',
    available: () => runs('php', '-v'),
    around: { 'index.php': `<?php require 'auth.php'; echo '<a href="/login">Login with Email</a>';` },
    command: ['php', '-S', '127.0.0.1:{port}', 'index.php'],
  },
];
