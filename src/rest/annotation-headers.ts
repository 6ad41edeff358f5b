import type { FastifyContextConfig } from 'fastify';
import { dateHeaders } from '../graphql/annotations';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency';
import type { PreparedOperation } from './prepared-operation';
import type { RestRequest } from './request-variables';
import { filler } from './rest-operation';

/** The URL of an operation's documentation. */
export function documentationOf({ id }: PreparedOperation): string {
  return `/docs/rest#${id}`;
}

/**
 * Makes the `annotate` function of a route, which sets its deprecation and stability headers; `undefined` if the operation
 * has no such headers.
 */
export function annotationOf(operation: PreparedOperation): FastifyContextConfig['annotate'] {
  const { deprecation, stability, runsOnce } = operation;
  if (!deprecation && !stability && !runsOnce) return undefined;
  const dates = deprecation && dateHeaders(deprecation.since, deprecation.sunset);
  const documentation = `<${documentationOf(operation)}>; rel="deprecation"; type="text/html"`;
  const linkOf = deprecation && filler(`<${deprecation.successor}>; rel="successor-version", ${documentation}`);
  return (request, reply) => {
    const { params, query, headers } = request as RestRequest;
    if (dates && linkOf) reply.headers(dates).header('link', linkOf(params));
    if (stability) {
      const isUsed = stability.parameter === undefined || Object.hasOwn(query, stability.parameter);
      if (isUsed) reply.header('x-stability', stability.level);
    } else if (runsOnce && headers[IDEMPOTENCY_KEY] !== undefined) reply.header('x-stability', 'experimental');
  };
}
