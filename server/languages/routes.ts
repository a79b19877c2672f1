import { languages } from '../../contract/languages.ts';
import { type Served, serve } from '../http/serve.ts';
import { texts } from './texts.ts';

export function languageRoutes(): Served[] {
  return [serve('languages', () => [...languages]), serve('translations', ({ language }) => texts[language])];
}
