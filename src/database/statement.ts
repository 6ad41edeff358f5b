import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Statement } from './database';

const statements = new LRUCache<string, Statement>({
  maxSize: 1_000_000,
  sizeCalculation: ({ text }) => text.length,
});

/**
 * Returns the statement for a SQL text, with a name derived from the text. The cache needs a bound, since
 * callers choose columns and aliases, which are part of the text.
 */
export function statement(text: string): Statement {
  let known = statements.get(text);
  if (!known) {
    known = { name: `ps_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`, text };
    statements.set(text, known);
  }
  return known;
}

/** The name of statements that are not kept as prepared statements. PostgreSQL plans them for the values of each run. */
export const UNNAMED = '';

/**
 * @param isPlannedByValues whether PostgreSQL plans the statement anew for the values of each run. Such a statement has no
 * name.
 */
export function statementOrUnnamed(text: string, isPlannedByValues: boolean): Statement {
  return isPlannedByValues ? { name: UNNAMED, text } : statement(text);
}
