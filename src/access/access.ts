import type { Domain } from '../domain/domain';
import type { Limiter } from '../rate-limit/limiter';
import type { RestRoute, Tag } from '../rest/rest-route';
import { ApiKeyResolver } from './api-key-resolver';
import { type ApiKeyService, KEY_TOPIC } from './api-key-service';
import { KEY_ID } from './types';
import type { UsageService } from './usage-service';
import { ViewerResolver } from './viewer-resolver';

/** The services behind API keys, quotas and usage. */
export interface AccessServices {
  readonly apiKeys: ApiKeyService;
  readonly limits: Limiter;
  readonly usage: UsageService;
}

/** The domain of API keys, plans and usage. */
export function createAccess({ apiKeys, limits, usage }: AccessServices): Domain {
  return {
    name: 'access',
    resolvers: [new ViewerResolver(usage), new ApiKeyResolver(apiKeys, limits, usage)],
    routes: ROUTES,
    tags: { rate_limit: LIMITS, usage: LIMITS },
    errors: {},
    idForms: [KEY_ID],
    tables: [],
    topics: { api_key: KEY_TOPIC },
  };
}

const ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /rate_limit',
    ok: 200,
    summary: 'Get the remaining quota',
    description: "The caller's plan and remaining quota. This request uses no quota.",
    document: 'query getRateLimit { rateLimit { plan windows { name limit remaining resetAt } bannedUntil } }',
  },
  {
    on: 'GET /usage',
    ok: 200,
    summary: 'Get your usage by day',
    description:
      "The usage of the request's API key. The list has one object for each of the last `days` days in UTC, today last. Without a key the list is empty: end users are counted together, and so are anonymous callers. This request uses no quota.",
    document: 'query getUsage($days: Int) { viewer { usage(days: $days) { date requests refused bans } } }',
    payload: 'viewer.usage',
  },
];

const LIMITS: Tag = { name: 'Limits', description: 'Quotas, remaining requests, and usage.' };
