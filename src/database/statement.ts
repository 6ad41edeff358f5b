import { createHash } from 'node:crypto';
import type { Statement } from './database';

const statements = new Map<string, Statement>();

/**
 * The statement of a SQL text. Its name is derived from the text, so that connections that are shared by several
 * processes behind a pooler never see one name for two texts. There are as many as the code can spell, not more:
 * values are always parameters.
 */
export function statement(text: string): Statement {
  let known = statements.get(text);
  if (!known) {
    known = { name: `ps_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`, text };
    statements.set(text, known);
  }
  return known;
}
