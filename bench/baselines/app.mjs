import Fastify, { LogController } from 'fastify';

/**
 * The application of a hand-written baseline: Fastify alone, or with `PLUGINS` what its users put in front of a public API.
 * That is a part of the gateway's duties: a limit by API key in one window, in memory; CORS; protective headers; ETags;
 * shedding of load; a request id; a line of log for each response. Keys are not looked up, and nothing is fair or metered.
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
