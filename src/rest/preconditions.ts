import type { IncomingHttpHeaders } from 'node:http';
import { badInput } from '../errors/errors';
import type { Precondition } from '../errors/precondition';
import { Context, type OperationRequest } from '../graphql/context';
import { etagOf, matchesAny, parseEntityTags } from './entity-tags';
import type { PreparedRoute } from './prepared-route';

/** The fields of the row are not charged again: the operation has been charged before its precondition runs. */
const CHARGED = { countedFields: 0 };

/**
 * Makes the condition on the current row from `If-Match` and `If-None-Match` (RFC 9110, section 13.2.2); `undefined` without
 * these headers.
 * @throws ProblemError `BAD_USER_INPUT`.
 */
export function preconditionOf(
  headers: IncomingHttpHeaders,
  { writeRow }: Pick<PreparedRoute, 'writeRow'>,
  operationRequest: OperationRequest,
): Precondition | undefined {
  const ifMatch = tagsIn(headers, 'If-Match');
  const ifNoneMatch = tagsIn(headers, 'If-None-Match');
  if (!ifMatch && !ifNoneMatch) return undefined;
  return async (current, session) => {
    const context = () => new Context(operationRequest, CHARGED, session);
    const etag = current === null ? undefined : etagOf(await writeRow(current, context));
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
