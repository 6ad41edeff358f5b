import { METHODS } from 'node:http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { ProblemError } from '../errors/errors';
import { PATCH_TYPES } from '../rest/response';

/**
 * Answers all methods that a path does not support. OPTIONS gets the allowed methods (RFC 9110, section 9.3.7), and every
 * other method gets 405.
 * @param url the path in Fastify's syntax.
 * @param methods the methods that the path supports.
 */
export function answerOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = [...methods, 'OPTIONS'];
  const allow = allowed.join(', ');
  const patch = methods.includes('PATCH') ? { 'accept-patch': PATCH_TYPES.join(', ') } : undefined;
  app.route({
    method: 'OPTIONS',
    url,
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
      check: (request, reply) => {
        reply.header('allow', allow);
        throw new ProblemError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here. Allowed: ${allow}.`);
      },
    },
    handler: () => undefined,
  });
}

const READS = ['GET', 'HEAD'];

/** Registers a path that supports only GET and HEAD. @param url the path in Fastify's syntax. */
export function readRoute(app: FastifyInstance, url: string, options: Omit<RouteOptions, 'method' | 'url'>): void {
  app.route({ method: READS, url, ...options });
  answerOtherMethods(app, url, READS);
}

/**
 * Makes Fastify route all HTTP methods that Node can parse. Otherwise rare methods would get 404 instead of 405. The body of a
 * DELETE or OPTIONS request is ignored, whatever its `Content-Type` is: many clients send the header without a body.
 */
export function routeEveryMethod(app: FastifyInstance): void {
  for (const method of ['DELETE', 'OPTIONS']) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  const known = new Set<string>(app.supportedMethods);
  for (const method of METHODS) if (!known.has(method) && method !== 'CONNECT') app.addHttpMethod(method);
}

/** Answers OPTIONS requests for paths that do not exist, including CORS preflights. */
export function answerPreflights(app: FastifyInstance): void {
  app.options('*', (_request, reply) => reply.code(204).send());
}
