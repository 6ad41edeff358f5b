import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';
import { escaped } from '../html';

/** What blocks of code are called in Markdown, by the name of their grammar. */
const GRAMMARS: Readonly<Record<string, readonly string[]>> = {
  bash: ['sh', 'bash'],
  graphql: ['graphql'],
  http: ['http'],
  javascript: ['js', 'mjs'],
  json: ['json'],
  sql: ['sql'],
  typescript: ['ts', 'tsx'],
  yaml: ['yaml', 'yml'],
};

loadLanguages.silent = true;
loadLanguages(Object.keys(GRAMMARS));

/** Code as HTML, with a class for each token if its language is known. */
export function highlighted(code: string, language: string): string {
  const name = Object.keys(GRAMMARS).find((each) => GRAMMARS[each]?.includes(language));
  const grammar = name && Prism.languages[name];
  return grammar ? Prism.highlight(code, grammar, name) : escaped(code);
}
