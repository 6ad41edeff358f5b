import { createHash } from 'node:crypto';
import type { Statement } from './database';

const statements = new Map<string, Statement>();

const MOST_CHARACTERS = 1_000_000;
let characters = 0;

/**
 * Returns the statement for a SQL text. Its name is derived from the text, so connections that a pooler shares between
 * processes never see one name for two texts. Values are always parameters, but callers choose columns and aliases, so
 * what is cached is bounded.
 */
export function statement(text: string): Statement {
  let known = statements.get(text);
  if (!known) {
    known = { name: `ps_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`, text };
    characters += text.length;
    if (characters > MOST_CHARACTERS) {
      statements.clear();
      characters = text.length;
    }
    statements.set(text, known);
  }
  return known;
}

/** node-postgres does not keep what has no name; PostgreSQL then plans it for the values. */
export const UNNAMED = '';

/** The statement with a prefix. One that is planned anew for each run's values has no name to be prepared under. */
export function statementFor(
  { prefix, isPlannedByValues }: { readonly prefix: string; readonly isPlannedByValues: boolean },
  text: string,
): Statement {
  return isPlannedByValues ? { name: UNNAMED, text: prefix + text } : statement(prefix + text);
}
