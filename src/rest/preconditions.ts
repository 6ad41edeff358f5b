import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../database/database';
import { badInput, type Precondition } from '../errors/errors';
import type { Context } from '../graphql/context';
import { matchesAny, parseEntityTags } from './entity-tags';
import type { PreparedRoute } from './prepared-route';
import { etagOf } from './response';

/**
 * Makes the condition on the current row from `If-Match` and `If-None-Match` (RFC 9110, section 13.2.2); `undefined` without
 * these headers.
 * @param contextOf returns the context for the resolvers of the resource's fields, which read in this session.
 * @throws ProblemError `BAD_USER_INPUT`.
 */
export function preconditionOf(
  headers: IncomingHttpHeaders,
  { writeRow }: Pick<PreparedRoute, 'writeRow'>,
  contextOf: (session: Session) => Context,
): Precondition | undefined {
  const ifMatch = tagsIn(headers, 'If-Match');
  const ifNoneMatch = tagsIn(headers, 'If-None-Match');
  if (!ifMatch && !ifNoneMatch) return undefined;
  return async (current, session) => {
    const etag = current === null ? undefined : etagOf(await writeRow(current, () => contextOf(session)));
    if (ifMatch && !matchesAny(ifMatch, etag)) return 'If-Match';
    return ifNoneMatch && matchesAny(ifNoneMatch, etag) ? 'If-None-Match' : undefined;
  };
}

function tagsIn(headers: IncomingHttpHeaders, name: 'If-Match' | 'If-None-Match') {
  const header = headers[name.toLowerCase()];
  if (header === undefined) return undefined;
  const tags = parseEntityTags(String(header));
  if (!tags) throw badInput({ path: name, message: 'must be * or a list of ETags, each in double quotes' });
  return tags;
}
