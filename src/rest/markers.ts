import type { IncomingHttpHeaders } from 'node:http';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency-headers';
import { fill, type Operation, takesIdempotencyKey } from './operation';

type Headers = Readonly<Record<string, string>>;

/** The headers that an operation carries on every answer, whatever its status. */
export type Marker = (
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
) => Headers | undefined;

/** Where the documentation of an operation stands. */
export function documentationOf({ tag, id }: Operation): string {
  return `/docs#/${tag}/${id}`;
}

const EXPERIMENTAL = { 'x-stability': 'experimental' };

/** The marker of an operation; `undefined` for one that carries none. */
export function markerOf(operation: Operation): Marker | undefined {
  const { deprecation, stability } = operation;
  if (stability) {
    const headers = { 'x-stability': stability.level };
    const { parameter } = stability;
    return (_, query) => (parameter === undefined || Object.hasOwn(query, parameter) ? headers : undefined);
  }
  if (takesIdempotencyKey(operation))
    return (_path, _query, given) => (given[IDEMPOTENCY_KEY] === undefined ? undefined : EXPERIMENTAL);
  if (!deprecation) return undefined;
  const dates = {
    deprecation: `@${deprecation.since.getTime() / 1000}`, // RFC 9745, section 2.1
    sunset: deprecation.sunset.toUTCString(), // RFC 8594, section 3
  };
  const documentation = `<${documentationOf(operation)}>; rel="deprecation"; type="text/html"`;
  return (path) => ({
    ...dates,
    link: `<${fill(deprecation.successor, path)}>; rel="successor-version", ${documentation}`,
  });
}
