import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Statement } from './database';

const statements = new LRUCache<string, Statement>({
  maxSize: 1_000_000,
  sizeCalculation: ({ text }) => text.length,
});

/**
 * Returns the statement for a SQL text, with a name derived from the text. Values are always parameters, but callers choose
 * columns and aliases, so the cache is bounded.
 */
export function statement(text: string): Statement {
  let known = statements.get(text);
  if (!known) {
    known = { name: `ps_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`, text };
    statements.set(text, known);
  }
  return known;
}

/** node-postgres does not keep statements without a name; PostgreSQL plans them for their values. */
export const UNNAMED = '';

/** @param isPlannedByValues whether it is planned anew for the values of each run, without a name. */
export function statementFor(text: string, isPlannedByValues: boolean): Statement {
  return isPlannedByValues ? { name: UNNAMED, text } : statement(text);
}
