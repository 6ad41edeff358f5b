import type { FastifyBaseLogger } from 'fastify';

const METHODS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Returns a factory of request loggers that create the actual child logger on first use. Fastify gives every request a
 * child, but hardly any is used: the request's log line is written by the server's own logger.
 */
export function lazyChildren(parent: FastifyBaseLogger): (bindings: object) => FastifyBaseLogger {
  class Lazy {
    private made: FastifyBaseLogger | undefined;

    constructor(private readonly bindings: object) {}

    get own(): FastifyBaseLogger {
      this.made ??= parent.child(this.bindings as never);
      return this.made;
    }
  }
  for (const method of METHODS) {
    Object.defineProperty(Lazy.prototype, method, {
      value(this: Lazy, ...args: [object]) {
        this.own[method](...args);
      },
    });
  }
  Object.defineProperty(Lazy.prototype, 'child', {
    value(this: Lazy, ...args: [never]) {
      return this.own.child(...args);
    },
  });
  Object.defineProperty(Lazy.prototype, 'level', { get: () => parent.level });
  return (bindings) => new Lazy(bindings) as unknown as FastifyBaseLogger;
}
