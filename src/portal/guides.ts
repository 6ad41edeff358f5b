import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Parsed, parse } from './markdown';

/** The project's directory. The path is valid from `src` and from the build in `dist`. */
const PROJECT = join(__dirname, '..', '..');

/** A page of the documentation. */
export interface Entry {
  readonly title: string;
  /** The path of the page on this server. */
  readonly href: string;
  /** A summary of the page in one sentence. */
  readonly summary: string;
}

/** A page whose content is a Markdown file in docs/. */
export interface Guide extends Entry {
  /** Returns the parsed file. The first call parses it. */
  parsed(): Parsed;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/**
 * An entry of the search index: a section of a guide, or a REST operation. Browsers load the index when the search is first
 * opened.
 */
export interface Place {
  readonly kind: 'Guide' | 'REST';
  readonly title: string;
  /** The title of the guide, or the tag of the operation; empty for a whole page. */
  readonly within: string;
  readonly text: string;
  readonly href: string;
  /** Synonyms: words that find this entry although its text does not contain them. */
  readonly also?: string;
}

export const REST_REFERENCE: Entry = {
  title: 'REST',
  href: '/docs/rest',
  summary: 'Every operation of the REST interface in Swagger UI, ready to try.',
};

/** The pages of the documentation in order, by group. A string is the name of a Markdown file in docs/. */
const GROUPS: readonly (readonly [title: string, pages: readonly (string | Entry)[]])[] = [
  ['Begin', ['getting-started']],
  [
    'GraphQL clients',
    ['graphql-clients', 'react', 'sign-in', 'relay', 'live-events', 'trusted-documents', 'federation'],
  ],
  ['REST clients', ['rest-clients', REST_REFERENCE]],
  ['Any client', ['idempotency', 'error-handling', 'errors', 'deprecation']],
  ['Keys and limits', ['keys', 'limits', 'usage', 'bounds']],
  ['In production', ['configuration', 'operations', 'scaling', 'postgresql', 'redis', 'backup', 'compatibility']],
];

/** Synonyms for the search, by the path of the page or section that they find. */
export const SYNONYMS: Readonly<Record<string, string>> = {
  '/docs/getting-started': 'seed sample data test data mock install tutorial quick start',
  '/docs/getting-started#exploring': 'graphiql sandbox explorer introspection playground',
  '/docs/rest': 'postman insomnia swagger playground openapi reference endpoints',
  '/docs/graphql-clients':
    'pagination paginate paging infinite scroll filter filtering sorting order by codegen fragments' +
    ' vue angular svelte swift kotlin',
  '/docs/react':
    'next.js usequery usemutation usesubscription hooks optimistic ssr hydration tanstack swr remix vite form frontend jsx',
  '/docs/sign-in': 'jwt oauth oidc openid auth0 keycloak cognito clerk firebase sso login logout end users sessions',
  '/docs/rest-clients':
    'pagination paginate paging filter filtering sorting sdk optimistic locking axios fetch python java',
  '/docs/rest-clients#updates': 'concurrency conditional caching',
  '/docs/rest-clients#values': 'bigint int64',
  '/docs/live-events': 'webhook websocket sse realtime push notifications',
  '/docs/trusted-documents': 'persisted queries allowlist safelist',
  '/docs/idempotency': 'duplicate double submit timeout retry',
  '/docs/error-handling': 'exceptions faults validation form fields',
  '/docs/deprecation': 'versioning breaking changes',
  '/docs/keys': 'authentication authorization permissions login token bearer credentials',
  '/docs/keys#manage-keys': 'create key revoke key new key',
  '/docs/limits#bans': 'blocked banned unblock',
  '/docs/limits': 'rate limiting throttling quota too many requests',
  '/docs/bounds': 'complexity query cost depth batching n+1 dataloader',
  '/docs/configuration': 'environment variables env settings options port',
  '/docs/configuration#callers': 'cors csrf origin',
  '/docs/postgresql': 'rds aurora cloud sql supabase neon',
  '/docs/operations': 'monitoring observability logging tracing systemd pm2',
  '/docs/operations#behind-a-proxy':
    'nginx apache haproxy caddy traefik envoy ingress load balancer reverse proxy https tls ssl certificate' +
    ' cloudflare x-forwarded-for',
  '/docs/operations#logs': 'logging pino elk loki correlation',
  '/docs/operations#traces': 'opentelemetry otel jaeger datadog sentry apm',
  '/docs/operations#health-and-shutdown': 'liveness readiness probes sigterm graceful zero downtime',
  '/docs/operations#alerts': 'prometheus grafana monitoring',
  '/docs/scaling': 'docker kubernetes helm containers cluster deploy',
  '/docs/backup': 'export import pg_dump recovery migrate',
};

/** Guides link to these files outside docs/. The values are their paths on this server. */
const SERVED: Readonly<Record<string, string>> = { 'schema.graphql': '/schema.graphql', 'README.md': '/docs' };

/** Reads the pages of all groups. @throws Error if a file is missing. */
export function readGroups(): Group[] {
  return GROUPS.map(([title, pages]) => ({
    title,
    entries: pages.map((page) => (typeof page === 'string' ? readGuide(page) : page)),
  }));
}

export function guidesOf(groups: readonly Group[]): Guide[] {
  return groups.flatMap(({ entries }) => entries.filter((entry): entry is Guide => 'parsed' in entry));
}

function readGuide(name: string): Guide {
  const markdown = readFileSync(join(PROJECT, 'docs', `${name}.md`), 'utf8');
  const [, title = '', lead = ''] = /^# (.+)\n+((?:.+\n)*)/.exec(markdown) ?? [];
  if (!title) throw new Error(`docs/${name}.md does not begin with a title.`);
  let parsed: Parsed | undefined;
  return {
    title,
    href: `/docs/${name}`,
    summary: firstSentence(lead),
    parsed: () => (parsed ??= parse(markdown, urlOf)),
  };
}

/** The first sentence of a paragraph, without its markup. */
function firstSentence(paragraph: string): string {
  const text = paragraph
    .replace(/\[([^\]]+)\]\([^)]+\)|[`*]/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

/** Converts a link in a guide to a URL on this server; `undefined` if this server does not have the file. */
function urlOf(href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [target = '', anchor] = href.split('#');
  const file = posix.join('docs', target);
  const name = /^docs\/([\w-]+)\.md$/.exec(file)?.[1];
  const isGuide = name !== undefined && GROUPS.some(([, pages]) => pages.includes(name));
  const path = isGuide ? `/docs/${name}` : SERVED[file];
  return path && anchor !== undefined ? `${path}#${anchor}` : path;
}

/** The search entries for all sections of the guides. */
export function placesInGuides(guides: readonly Guide[]): Place[] {
  return guides.flatMap(({ title: page, href, parsed }) =>
    parsed().sections.map(({ level, id, title, text }) => ({
      kind: 'Guide',
      title,
      within: level === 1 ? '' : page,
      text,
      href: level === 1 ? href : `${href}#${id}`,
    })),
  );
}
