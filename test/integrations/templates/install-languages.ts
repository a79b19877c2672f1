/** Run before the tests of the templates: installs the languages that they need, where that is allowed. */
import { prepareLanguages } from './debian.ts';

prepareLanguages();
