import { METHODS } from 'node:http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { ProblemError } from '../errors/errors';
import { PATCH_TYPES } from '../rest/representation';

/**
 * Answers the other methods of a path: OPTIONS with the allowed methods (RFC 9110, section 9.3.7), the rest with 405.
 * @param url the path in Fastify's syntax.
 */
export function answerOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = [...methods, 'OPTIONS'];
  const allow = allowed.join(', ');
  const patch = methods.includes('PATCH') ? { 'accept-patch': PATCH_TYPES.join(', ') } : undefined;
  app.route({
    method: 'OPTIONS',
    url,
    config: { metering: 'free' },
    handler: (_request, reply) =>
      reply
        .code(204)
        .headers({ allow, ...patch })
        .send(),
  });
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    config: {
      reject: (request, reply) => {
        reply.header('allow', allow);
        return new ProblemError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here. Allowed: ${allow}.`);
      },
    },
    handler: () => undefined,
  });
}

const READS = ['GET', 'HEAD'];

/** A path that can only be read. @param url as for {@link answerOtherMethods}. */
export function readRoute(app: FastifyInstance, url: string, options: Omit<RouteOptions, 'method' | 'url'>): void {
  app.route({ method: READS, url, ...options });
  answerOtherMethods(app, url, READS);
}

/** Lets Fastify route methods that only Node knows, so that they are not treated as unknown paths. */
export function routeEveryMethod(app: FastifyInstance): void {
  const known = new Set<string>(app.supportedMethods);
  for (const method of METHODS) if (!known.has(method) && method !== 'CONNECT') app.addHttpMethod(method);
}

/** Answers OPTIONS, preflights included, at paths that do not exist. */
export function answerPreflights(app: FastifyInstance): void {
  app.options('*', { config: { metering: 'free' } }, (_request, reply) => reply.code(204).send());
}
