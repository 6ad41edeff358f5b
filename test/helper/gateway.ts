import type { FastifyInstance } from 'fastify';
import type { FormattedExecutionResult } from 'graphql';
import { createApp } from '../../src/app';
import { readConfig } from '../../src/config';
import type { Database } from '../../src/database/database';
import { createDatabase } from './database';

/** A JSON tree whose fields a test names freely. */
export type Json = { [field: string]: Json } & { map: Json[]['map']; length: number };

export interface GraphQLAnswer<Data = Json> {
  status: number;
  headers: Record<string, string>;
  data: Data;
  errors: NonNullable<FormattedExecutionResult['errors']>;
  extensions?: Json;
}

/** The whole application on a database of its own, called from outside. */
export class Gateway {
  constructor(
    readonly app: FastifyInstance,
    readonly database: Database,
    private readonly drop: () => Promise<void>,
  ) {}

  /** Runs a GraphQL operation. */
  async graphql<Data = Json>(
    query: string,
    variables?: object,
    headers: Record<string, string> = {},
  ): Promise<GraphQLAnswer<Data>> {
    const response = await this.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify({ query, variables }),
    });
    const { data, errors = [], extensions } = response.json();
    const received = response.headers as Record<string, string>;
    return { status: response.statusCode, headers: received, data, errors, extensions };
  }

  /** Runs a GraphQL operation that is expected to succeed, and answers its data. */
  async data<Data = Json>(query: string, variables?: object): Promise<Data> {
    const { data, errors } = await this.graphql<Data>(query, variables);
    if (errors.length) throw new Error(JSON.stringify(errors));
    return data;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.drop();
  }
}

/** Starts the application; `environment` is what its process would have. */
export async function startGateway(environment: Record<string, string> = {}): Promise<Gateway> {
  const { database, drop } = await createDatabase();
  const app = await createApp(
    readConfig({ LOG_LEVEL: 'silent', NODE_ENV: 'test', ...environment }),
    database,
  );
  await app.ready();
  return new Gateway(app, database, drop);
}
