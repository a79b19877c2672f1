/** Run as a program, before the templates' tests: installs the languages that they need, where that is allowed. */
import { prepareLanguages } from './debian.ts';

prepareLanguages();
