import { dateHeaders } from '../graphql/annotations';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency';
import type { PreparedOperation } from './prepared-operation';
import type { RestRequest } from './request-variables';
import { filler } from './rest-operation';

/** The headers that mark an operation on all its responses, whatever their status. */
type AnnotationHeaders = (request: RestRequest) => Readonly<Record<string, string>> | undefined;

/** The URL of an operation's documentation. */
export function documentationOf({ id }: PreparedOperation): string {
  return `/docs/rest#${id}`;
}

const EXPERIMENTAL = { 'x-stability': 'experimental' };

/** The annotations of an operation as headers; `undefined` if it has none. */
export function annotationHeadersOf(operation: PreparedOperation): AnnotationHeaders | undefined {
  const annotations = [deprecationOf(operation), stabilityOf(operation)].filter((each) => each !== undefined);
  if (annotations.length < 2) return annotations[0];
  return (request) => Object.assign({}, ...annotations.map((annotate) => annotate(request)));
}

function stabilityOf({ stability, runsOnce }: PreparedOperation): AnnotationHeaders | undefined {
  if (stability) {
    const headers = { 'x-stability': stability.level };
    const { parameter } = stability;
    return ({ query }) => (parameter === undefined || Object.hasOwn(query, parameter) ? headers : undefined);
  }
  if (!runsOnce) return undefined;
  return ({ headers }) => (headers[IDEMPOTENCY_KEY] === undefined ? undefined : EXPERIMENTAL);
}

function deprecationOf(operation: PreparedOperation): AnnotationHeaders | undefined {
  const { deprecation } = operation;
  if (!deprecation) return undefined;
  const dates = dateHeaders(deprecation.since, deprecation.sunset);
  const documentation = `<${documentationOf(operation)}>; rel="deprecation"; type="text/html"`;
  const link = filler(`<${deprecation.successor}>; rel="successor-version", ${documentation}`);
  const headers = { ...dates, link: '' };
  return ({ params }) => ({ ...headers, link: link(params) });
}
