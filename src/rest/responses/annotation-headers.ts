import type { IncomingHttpHeaders } from 'node:http';
import { dateHeaders } from '../../graphql/annotations/notice';
import { IDEMPOTENCY_KEY } from '../../graphql/idempotency/idempotency-header';
import type { PreparedOperation } from '../prepared-operation';
import { filler } from '../rest-operation';

type Headers = Readonly<Record<string, string>>;

/** The headers that mark an operation on all its responses, whatever their status. */
export type AnnotationHeaders = (
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
) => Headers | undefined;

/** The URL of an operation's documentation. */
export function documentationOf({ id }: PreparedOperation): string {
  return `/docs/rest#${id}`;
}

const EXPERIMENTAL = { 'x-stability': 'experimental' };

/** The annotate of an operation; `undefined` if it has none. */
export function annotationHeadersOf(operation: PreparedOperation): AnnotationHeaders | undefined {
  const annotations = [deprecationOf(operation), stabilityOf(operation)].filter((each) => each !== undefined);
  if (annotations.length < 2) return annotations[0];
  return (...request) => Object.assign({}, ...annotations.map((annotate) => annotate(...request)));
}

function stabilityOf({ stability, runsOnce }: PreparedOperation): AnnotationHeaders | undefined {
  if (stability) {
    const headers = { 'x-stability': stability.level };
    const { parameter } = stability;
    return (_, query) => (parameter === undefined || Object.hasOwn(query, parameter) ? headers : undefined);
  }
  if (!runsOnce) return undefined;
  return (_path, _query, given) => (given[IDEMPOTENCY_KEY] === undefined ? undefined : EXPERIMENTAL);
}

function deprecationOf(operation: PreparedOperation): AnnotationHeaders | undefined {
  const { deprecation } = operation;
  if (!deprecation) return undefined;
  const dates = dateHeaders(deprecation.since, deprecation.sunset);
  const documentation = `<${documentationOf(operation)}>; rel="deprecation"; type="text/html"`;
  const link = filler(`<${deprecation.successor}>; rel="successor-version", ${documentation}`);
  const headers = { ...dates, link: '' };
  return (path) => ({ ...headers, link: link(path) });
}
