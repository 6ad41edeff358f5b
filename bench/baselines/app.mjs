import Fastify, { LogController } from 'fastify';

/**
 * The application of a hand-written baseline: plain Fastify, or, if `PLUGINS` is set, Fastify with the usual plugins of a
 * public API. The plugins do a part of the gateway's work: a rate limit per API key with one window in memory, CORS,
 * security headers, ETags, load shedding, request ids, and an access log. They do not authenticate keys, queue callers
 * fairly, or record usage.
 */
export async function application() {
  if (!process.env.PLUGINS) return Fastify();
  const logController = new LogController({ disableRequestLogging: true });
  const app = Fastify({ logger: true, logController, genReqId: () => crypto.randomUUID() });
  const plugins = {
    '@fastify/under-pressure': { maxEventLoopDelay: 10_000 },
    '@fastify/rate-limit': { max: 1e9, keyGenerator: ({ headers }) => headers['x-api-key'] },
    '@fastify/cors': {},
    '@fastify/helmet': {},
    '@fastify/etag': {},
  };
  for (const [name, options] of Object.entries(plugins)) await app.register(await import(name), options);
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, url } = request;
    request.log.info({ method, url, status: reply.statusCode, ms: reply.elapsedTime }, 'request completed');
  });
  return app;
}
