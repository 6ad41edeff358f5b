import type { InjectOptions } from 'fastify';
import { holdToDeclaredErrors } from '../helper/declared-errors';
import type { Gateway, Json } from '../helper/gateway';
import { type Told, toldBy } from '../helper/standing';

export type Headers = Readonly<Record<string, string | undefined>>;

export interface Options {
  /** The body of an HTTP request. A string or buffer is sent unchanged; any other value is sent as JSON. */
  readonly body?: unknown;
  /** The variables of a GraphQL operation. */
  readonly variables?: object;
  /** The admin key is added if the headers contain no API key. A header whose value is `undefined` is not sent. */
  readonly headers?: Headers;
  /** The client's address. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** The parsed body, if the body is a JSON object or list. */
  readonly json: Json;
  /** The error of a GraphQL or REST response. */
  readonly error: Problem | undefined;
  readonly code: string | undefined;
  /** The rate limit headers. Every response has them. */
  readonly told: Told;
}

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly { path: string; message: string }[];
  readonly requestId: string;
}

export const ANONYMOUS: Headers = { 'x-api-key': undefined };
export const STREAM: Headers = { accept: 'text/event-stream' };
export const PREFLIGHT: Headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
/** A query that costs one request of the quota. */
export const PETS = '{ pets { totalCount } }';
/** A request to each interface. Each costs one request of the quota. */
export const READS: readonly (readonly [string, string])[] = [
  ['GraphQL', PETS],
  ['REST', 'GET /pets'],
];

/** @returns an operation with `count` root fields that use quota but do not read the database. */
export function fields(count: number): string {
  return `{ ${Array.from({ length: count }, (_, i) => `f${i}: pets { __typename }`).join(' ')} }`;
}

/** Sends an HTTP request (`POST /pets`) or a GraphQL operation (`{ pets { totalCount } }`). */
export async function ask(gateway: Gateway, on: string, options: Options = {}): Promise<Answer> {
  const [, method = 'POST', url = '/graphql'] = /^([A-Z-]+) (\/.*)$/s.exec(on) ?? [];
  const isOperation = !/^[A-Z-]+ \//.test(on);
  const body = isOperation ? { query: on, variables: options.variables } : options.body;
  const response = await gateway.app.inject({
    method: method as 'GET',
    url,
    ...(options.from && { remoteAddress: options.from }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...options.headers } as Record<
      string,
      string
    >,
    ...(body !== undefined && { payload: payloadOf(body) }),
  });
  const text = response.payload;
  const json =
    /^[[{]/.test(text) && /json/.test(String(response.headers['content-type'])) ? JSON.parse(text) : undefined;
  if (isOperation) holdToDeclaredErrors(on, json?.errors);
  const [first] = json?.errors ?? [];
  const error = first ? { ...first.extensions, message: first.message } : json?.code ? json : undefined;
  const headers = response.headers as Record<string, string>;
  return { status: response.statusCode, headers, text, json, error, code: error?.code, told: toldBy(headers) };
}

function payloadOf(body: unknown): InjectOptions['payload'] {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}
