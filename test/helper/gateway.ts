import type { FastifyInstance, InjectOptions, LightMyRequestResponse as Response } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { ensureAdminKey } from '../../src/access/api-key-service';
import { type App, createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { gatewayDomains } from '../../src/app/domains';
import type { Database } from '../../src/database/database';
import type { GatewayDatabase } from '../../src/database/gateway-database';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL, truncate } from './database';
import { holdToDeclaredErrors } from './declared-errors';
import { holdToDescription } from './openapi';
import { perWorker } from './per-worker';

/** A JSON tree whose fields can be accessed without types. */
export type Json = { [field: string]: Json } & { map: Json[]['map']; length: number };

export interface GraphQLAnswer<Data = Json> {
  status: number;
  headers: Record<string, string>;
  data: Data;
  errors: NonNullable<FormattedExecutionResult['errors']>;
  extensions?: Json;
}

type Headers = Record<string, string | string[] | number | undefined>;

/** A key: its id, its full text, and the request headers to use it. */
export interface TestKey {
  readonly id: string;
  readonly whole: string;
  readonly headers: { 'x-api-key': string };
}

/** The admin key of every test gateway. No test uses up its quota. */
export const ADMIN_KEY = 'ps_testadmin000_TestAdminTestAdminTestAdminTestA';

/** The whole application with its own database. Requests carry the admin key unless a test sets another key. */
export class Gateway {
  readonly app = {
    inject: (options: InjectOptions): Promise<Response> =>
      this.server.inject({ ...options, headers: given({ 'x-api-key': ADMIN_KEY, ...options.headers }) }),
  };

  readonly server: FastifyInstance;

  constructor(
    private readonly instance: App,
    readonly database: GatewayDatabase,
    private readonly drop: () => Promise<void>,
    private readonly giveBack?: () => Promise<void>,
    private readonly domains = gatewayDomains,
  ) {
    this.server = instance.server;
  }

  /** Runs a GraphQL operation. Headers that are `undefined` are not sent: `{ 'x-api-key': undefined }` is anonymous. */
  async graphql<Data = Json>(
    query: string,
    variables?: object,
    headers: Headers = {},
    remoteAddress?: string,
  ): Promise<GraphQLAnswer<Data>> {
    const response = await this.app.inject({
      ...(remoteAddress && { remoteAddress }),
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify({ query, variables }),
    });
    const { data, errors = [], extensions } = response.json();
    holdToDeclaredErrors(query, errors);
    const received = response.headers as Record<string, string>;
    return { status: response.statusCode, headers: received, data, errors, extensions };
  }

  /** Runs a GraphQL operation that must succeed. @returns its data. */
  async data<Data = Json>(query: string, variables?: object): Promise<Data> {
    const { data, errors } = await this.graphql<Data>(query, variables);
    if (errors.length) throw new Error(JSON.stringify(errors));
    return data;
  }

  /** Creates a key, which is a new caller with unused quotas. Its plan is FREE unless `input` has another plan. */
  async createKey(input: object = {}): Promise<TestKey> {
    const { createApiKey } = await this.data<{ createApiKey: { secret: string; apiKey: { id: string } } }>(
      'mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { id } } }',
      { input: { name: 'test', ...input } },
    );
    const { secret, apiKey } = createApiKey;
    return { id: apiKey.id, whole: secret, headers: { 'x-api-key': secret } };
  }

  /** Starts a second instance with this gateway's domains and database. Close that instance before this gateway. */
  async another(environment: Record<string, string> = {}, now: () => number = Date.now): Promise<Gateway> {
    const app = await compose(environment, this.database, now, this.domains);
    holdInjected(app.server);
    return new Gateway(app, this.database, async () => undefined, undefined, this.domains);
  }

  /** The value of a metric. Reads it without a request, which the scenario of a test could hold up or reject. */
  async metric(name: string): Promise<number> {
    const metric = await this.instance.metrics.collect().getSingleMetric(`petstore_${name}`)?.get();
    const [{ value } = { value: Number.NaN }] = metric?.values ?? [];
    return value;
  }

  /** Listens on a free port. @returns the URL. */
  listen(): Promise<string> {
    return this.server.listen({ host: '127.0.0.1', port: 0 });
  }

  async close(): Promise<void> {
    const isReusable = this.giveBack && !this.server.server.listening;
    if (isReusable) return this.giveBack?.();
    // Otherwise, closing waits for connections on which clients have sent nothing yet. `fetch` opens such connections.
    this.server.server.closeAllConnections();
    await this.server.close();
    await this.drop();
  }
}

/** A gateway with the default settings, which successive test files reuse. */
interface Kept {
  readonly app: App;
  readonly inject: FastifyInstance['inject'];
  readonly database: GatewayDatabase;
  readonly drop: () => Promise<void>;
}

/** Gateways that no test file uses at present. They are reused because creating a gateway is slow. */
const kept = perWorker('gateways', () => ({ idle: [] as Kept[], files: 0 }));

/**
 * Starts the application with `environment` as its process environment. Without arguments, this function can return the
 * emptied gateway of an earlier test file. Requests then come from an unused address. `startGateway({})` always starts
 * a new gateway.
 * @param created the database to use; by default a new one.
 * @param domains the domains to serve; by default the domains of the product.
 */
export async function startGateway(
  environment?: Record<string, string>,
  now: () => number = Date.now,
  created?: { database: GatewayDatabase; drop(): Promise<void> },
  domains = gatewayDomains,
): Promise<Gateway> {
  if (!environment && !TEST_DATABASE_URL) return takeKept();
  const { database, drop } = created ?? (await createDatabase());
  const app = await compose(environment ?? {}, database, now, domains);
  holdInjected(app.server);
  if (await database.canWrite().catch(() => false)) await liftQuota(database);
  return new Gateway(app, database, drop, undefined, domains);
}

/**
 * Starts the application on the PostgreSQL database at `url`. Closing the gateway does not drop this database.
 * @param queue maximum number of statements waiting for a connection.
 */
export async function startGatewayOn(
  url: string,
  environment: Record<string, string> = {},
  queue = 1000,
): Promise<Gateway> {
  const config = readConfig(environment);
  const database = await openDatabase({
    url,
    directory: '',
    poolSize: config.DATABASE_POOL_SIZE,
    queue,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  return startGateway(environment, Date.now, { database, drop: () => database.close() });
}

async function takeKept(): Promise<Gateway> {
  const taken = kept.idle.pop() ?? (await composeKept());
  const { app, inject, database, drop } = taken;
  await makeAdminKey(database);
  app.server.inject = inject;
  const file = ++kept.files;
  holdInjected(app.server, `127.1.${file >> 8}.${file & 255}`);
  return new Gateway(app, database, drop, async () => {
    await truncate(database);
    kept.idle.push(taken);
  });
}

async function composeKept(): Promise<Kept> {
  const { database, drop } = await createDatabase();
  const app = await compose({}, database, Date.now);
  return { app, inject: app.server.inject, database, drop };
}

/** Creates the admin key of the tests, with a quota that no test uses up. */
export async function makeAdminKey(database: Database): Promise<void> {
  await ensureAdminKey(database, ADMIN_KEY, Date.now());
  await liftQuota(database);
}

async function liftQuota(database: Database): Promise<void> {
  await database
    .serviceSession()
    .query(statement('update api_keys set per_minute = 2147483647, per_day = 2147483647'), []);
}

async function compose(
  environment: Record<string, string>,
  database: Database,
  now: () => number,
  domains = gatewayDomains,
): Promise<App> {
  const config = readConfig({
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    NODE_ENV: 'test',
    ADMIN_API_KEY: ADMIN_KEY,
    ...environment,
  });
  const app = await createApp(config, database, now, domains);
  await app.server.ready();
  return app;
}

/** Makes `inject` check every REST response. @param remoteAddress the client's address if the request does not set it. */
function holdInjected(server: FastifyInstance, remoteAddress = '127.0.0.1'): void {
  const inject = server.inject.bind(server) as (options: InjectOptions) => Promise<Response>;
  const held = async (given: InjectOptions | string): Promise<Response> => {
    const options = typeof given === 'string' ? { url: given } : given;
    const { method = 'GET' }: InjectOptions = options;
    const response = await inject({ remoteAddress, ...options });
    const { statusCode: status, headers, body: text } = response;
    holdToDescription([{ method, url: String(response.raw.req.url), status, headers, text }]);
    return response;
  };
  server.inject = held as typeof server.inject;
}

function given(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
