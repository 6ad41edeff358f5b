/** What else one may call the subjects of pages, by their paths: words that they do not have themselves. */
export const ALSO_CALLED: Readonly<Record<string, string>> = {
  '/docs/rest': 'postman insomnia swagger playground',
  '/docs/graphql': 'introspection sdl types',
  '/docs/graphql-clients': 'pagination paginate paging infinite scroll filter filtering sorting order by',
  '/docs/rest-clients': 'pagination paginate paging filter filtering sorting sdk optimistic locking',
  '/docs/live-events': 'webhook websocket sse realtime push notifications',
  '/docs/trusted-documents': 'persisted queries allowlist',
  '/docs/idempotency': 'duplicate double submit timeout',
  '/docs/error-handling': 'exceptions faults',
  '/docs/deprecation': 'versioning breaking changes',
  '/docs/keys': 'authentication authorization permissions login token bearer credentials',
  '/docs/limits': 'rate limiting throttling quota too many requests',
  '/docs/bounds': 'complexity query cost depth',
  '/docs/configuration': 'environment variables env settings options',
  '/docs/operations': 'monitoring observability logging tracing',
  '/docs/operations#alerts': 'prometheus grafana monitoring',
  '/docs/scaling': 'docker kubernetes containers cluster deploy',
  '/docs/backup': 'export import pg_dump recovery migrate',
};

/** Pages for those who work on the gateway itself, by name: found, but after those for its users. */
export const FOUND_LAST: readonly string[] = ['changelog', 'contributing', 'benchmarks'];
