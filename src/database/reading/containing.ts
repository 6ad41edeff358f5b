import { beginningWith, casesOf, type Range } from './ranges';
import type { Condition, Values } from './statement-values';
import type { Column } from './table';

/** That a column contains a text of three characters or more, whatever its case, and the two ways in which it can. */
export interface Containing {
  readonly column: Column;
  readonly contains: Condition;
  /** It begins with the text: then it is in one of these ranges. */
  readonly begins: Condition;
  readonly ranges: readonly Range[];
  /** It does not, and has the text after its first character: `searched` by the trigram index on what follows that. */
  readonly elsewhere: { readonly walked: Condition; readonly searched: Condition };
}

/** How many characters of a text the ranges begin with: each doubles their number, since it has two cases. */
const RANGED = 4;

/** Text that has no cases but those of a to z, as the collation "C" knows them: it is compared in a quarter of the time. */
const ASCII = /^[ -~]*$/;

export function containing(column: Column, text: string): Containing {
  const pattern = text.replace(/[\\%_]/g, '\\$&');
  const parameter = (values: Values, wanted: string) => values.add(wanted, '::text');
  // A value inside of a subquery is unknown to the planner: whatever it is, the plan is the one for a rare text.
  const like = (what: (name: string) => string, wanted: string) => (values: Values) =>
    ASCII.test(text)
      ? `${what(`${column.sql} collate "C"`)} ilike (select ${parameter(values, wanted)})`
      : `lower(${what(`${column.sql} collate "default"`)}) like (select lower(${parameter(values, wanted)} collate "default"))`;
  const whole = (name: string) => `(${name})`;
  const rest = (name: string) => `substr(${name}, 2)`;
  const begins = like(whole, `${pattern}%`);
  const follows = like(rest, `%${pattern}%`);
  const indexed: Condition = (values) =>
    `${rest(`${column.sql} collate "default"`)} ilike ${values.of(column, `%${pattern}%`)}`;
  return {
    column,
    contains: like(whole, `%${pattern}%`),
    begins,
    ranges: casesOf([...text].slice(0, RANGED).join('')).map(beginningWith),
    elsewhere: {
      walked: (values) => `${follows(values)} and not ${begins(values)}`,
      searched: (values) => `${indexed(values)} and ${follows(values)} and not ${begins(values)}`,
    },
  };
}
