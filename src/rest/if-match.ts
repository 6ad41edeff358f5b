import { badInput, type Precondition } from '../errors/errors';
import type { PreparedRoute } from './prepared-route';
import { etagOf } from './response';

/**
 * Parses an `If-Match` header into a condition on the current row; `undefined` without the header. A weak tag never matches,
 * since `If-Match` uses strong comparison (RFC 9110, section 13.1.1).
 * @throws ProblemError `BAD_USER_INPUT`.
 */
export function preconditionOf(ifMatch: string | undefined, { writeRow }: PreparedRoute): Precondition | undefined {
  if (ifMatch === undefined) return undefined;
  if (ifMatch.trim() === '*') return (current) => current !== null;
  const tags = strongTags(ifMatch);
  return (current) => current !== null && tags.has(etagOf(writeRow(current)));
}

/**
 * Matches one list element: an entity tag with its separator, or an empty element, which is ignored (RFC 9110, section
 * 5.6.1).
 */
const ELEMENT = /[ \t]*(?:(W\/)?("[!#-~\x80-\xff]*"))?[ \t]*(?:,|$)/y;

function strongTags(list: string): ReadonlySet<string> {
  const strong = new Set<string>();
  let isEmpty = true;
  for (let at = 0; at < list.length; ) {
    ELEMENT.lastIndex = at;
    const [element, weak, tag] = ELEMENT.exec(list) ?? [];
    if (!element) throw malformed();
    if (tag) isEmpty = false;
    if (tag && !weak) strong.add(tag);
    at += element.length;
  }
  if (isEmpty) throw malformed();
  return strong;
}

function malformed() {
  return badInput({ path: 'If-Match', message: 'must be * or a list of ETags, each in double quotes' });
}
