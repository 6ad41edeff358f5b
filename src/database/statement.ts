import { createHash } from 'node:crypto';
import type { Statement } from './database';

const statements = new Map<string, Statement>();

const MOST = 1000;

/**
 * The statement of a SQL text. Its name is derived from the text, so that connections that are shared by several
 * processes behind a pooler never see one name for two texts. Values are always parameters, but callers choose columns and
 * what these are called, so no more are kept than an application has.
 */
export function statement(text: string): Statement {
  let known = statements.get(text);
  if (!known) {
    known = { name: `ps_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`, text };
    if (statements.size === MOST) statements.clear();
    statements.set(text, known);
  }
  return known;
}
