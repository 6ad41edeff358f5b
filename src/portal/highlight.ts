import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';
import { escaped } from './html';

loadLanguages.silent = true;
loadLanguages(['bash', 'graphql', 'http', 'javascript', 'json', 'sql', 'typescript', 'yaml']);

/** Code as HTML, with a class for each token if its language is known, by its name or a short one: `sh`, `ts`. */
export function highlighted(code: string, language: string): string {
  const grammar = Prism.languages[language];
  return grammar ? Prism.highlight(code, grammar, language) : escaped(code);
}
