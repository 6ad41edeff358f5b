import type { FastifyContextConfig, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import findMyWay from 'find-my-way';
import { ProblemError } from '../errors/errors';
import { PATCH_TYPES } from '../rest/media-types';
import { MAX_URL_LENGTH } from './urls';

/** A path that has routes. */
interface Path {
  readonly methods: string[];
  readonly first: RouteOptions;
}

/** Matches every path, so it says nothing about the path of a request. */
const ANY_PATH = '*';

/**
 * The methods that each path supports. Answers requests with other methods, for which Fastify finds no route: OPTIONS gets the
 * allowed methods (RFC 9110, section 9.3.7), and every other method gets 405.
 */
export class AllowedMethods {
  private readonly router = findMyWay({ maxParamLength: MAX_URL_LENGTH });
  private readonly paths = new Map<string, Path>();

  /** Adds the routes that the server registers from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const { url, method } = route;
      if (url === ANY_PATH) return;
      const path = this.paths.get(url) ?? { methods: [], first: route };
      path.methods.push(...[method].flat());
      if (this.paths.has(url)) return;
      this.paths.set(url, path);
      this.router.on('GET', url, () => undefined, path);
    });
  }

  /**
   * Returns the config for a request whose path has routes, but none for its method. The `check` of this config rejects the
   * request. Returns `undefined` if the path has no routes.
   */
  configFor(request: FastifyRequest): FastifyContextConfig | undefined {
    const path = this.find(request);
    if (!path) return undefined;
    const { metering, isPublic, logName } = path.first.config ?? {};
    const allow = allowed(path);
    const check: FastifyContextConfig['check'] = ({ method }, reply) => {
      reply.header('allow', allow);
      throw new ProblemError('METHOD_NOT_ALLOWED', `${method} is not allowed on this path. Allowed: ${allow}.`);
    };
    // Health checks and metrics have no operations. On all other paths, the request is charged, and gets no `logName`: it must
    // not be logged under the name of an operation that it does not run.
    return metering === 'unmetered' ? { metering, isPublic, logName, check } : { check };
  }

  /** Answers OPTIONS requests, including CORS preflights. */
  answerOptions(app: FastifyInstance): void {
    app.options(ANY_PATH, (request, reply) => {
      const path = this.find(request);
      const isPreflight = 'access-control-request-method' in request.headers;
      if (!path && !isPreflight && request.url !== ANY_PATH) return reply.callNotFound();
      if (path) reply.header('allow', allowed(path));
      if (path?.methods.includes('PATCH')) reply.header('accept-patch', PATCH_TYPES.join(', '));
      return reply.code(204).send();
    });
  }

  private find({ url }: FastifyRequest): Path | undefined {
    return this.router.find('GET', url)?.store;
  }
}

function allowed({ methods }: Path): string {
  return [...methods, 'OPTIONS'].join(', ');
}

/** Registers a path that supports only GET and HEAD. @param url the path in Fastify's syntax. */
export function readRoute(app: FastifyInstance, url: string, options: Omit<RouteOptions, 'method' | 'url'>): void {
  app.route({ method: ['GET', 'HEAD'], url, ...options });
}

/** Makes Fastify ignore the body of DELETE and OPTIONS requests, whose `Content-Type` many clients send without a body. */
export function ignoreBodies(app: FastifyInstance): void {
  for (const method of ['DELETE', 'OPTIONS']) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}
