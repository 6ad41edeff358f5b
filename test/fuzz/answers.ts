import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { LightMyRequestResponse as Response } from 'fastify';
import { type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { ERRORS, isErrorCode } from '../../src/errors/error-codes';
import { type Description, jsonSchema } from '../rest/description';
import type { FuzzedRequest } from './callers';
import { misfits } from './shape';

/** What no response may reveal about the database, the code or the machine. Nothing that the fuzzer sends matches by itself. */
const INTERNALS =
  /prisma|postgres|pglite|sqlstate|syntax error at or near|violates \w+ constraint|invalid input syntax|node_modules|\.[jt]s:\d+|\n\s+at \S+ \(|TypeError|ReferenceError|RangeError|FST_ERR|\bE(CONN|NOENT|PERM)|\b\w+_(pkey|fkey|check)\b/i;

const LIMIT_HEADERS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
];

/** What HTTP itself refuses, for any operation: the OpenAPI document has these under `default`. */
const OF_HTTP = [408, 414, 431];

type Error = { code?: unknown; status?: unknown; message?: unknown };

/** Finds faults in REST responses, by the OpenAPI document. */
export class RestJudge {
  private readonly routes: { pattern: RegExp; methods: Map<string, string> }[] = [];
  private readonly ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
  private readonly validators = new Map<object, ValidateFunction>();

  constructor(private readonly description: Description) {
    for (const on of description.operations.keys()) {
      const [method = '', path = ''] = on.split(' ');
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      const known = this.routes.find((route) => route.pattern.source === pattern.source);
      const route = known ?? { pattern, methods: new Map() };
      if (!known) this.routes.push(route);
      route.methods.set(method, on);
      if (method === 'GET') route.methods.set('HEAD', on);
    }
  }

  /** The faults of a response, in words. */
  faults(request: FuzzedRequest, response: Response): string[] {
    const { statusCode: status, payload } = response;
    const faults = faultsOfAll(response);
    const on = this.operationOf(request.method, String(response.raw.req.url));
    const declared = on && this.description.operation(on).responses;
    if (declared && !(status in declared) && !OF_HTTP.includes(status))
      faults.push(`${status} is not declared for ${on}`);
    if (request.method === 'HEAD' || status === 204 || status === 304) {
      if (payload !== '') faults.push(`a body with ${status}`);
      return faults;
    }
    if (!on && status === 200) return faults; // A page: a path with `..` can lead there.
    const json = jsonOf(payload);
    if (json === undefined) return [...faults, 'the body is no JSON'];
    if (status >= 400) {
      faults.push(...faultsOfError(json as Error, status));
      const described = on && !OF_HTTP.includes(status) ? this.description.response(on, status) : undefined;
      const valid = this.validator(described ? jsonSchema(described) : this.description.schema('Error'));
      if (!valid(json)) faults.push(`no Error of its own: ${this.ajv.errorsText(valid.errors)}`);
    } else if (on) {
      const valid = this.validator(jsonSchema(this.description.response(on, status)));
      if (!valid(json)) faults.push(`not of its schema: ${this.ajv.errorsText(valid.errors)}`);
    }
    return faults;
  }

  private operationOf(method: string, url: string): string | undefined {
    const path = url.split('?', 1)[0] ?? '';
    if (/%(?![0-9a-f]{2})/i.test(url)) return undefined;
    return this.routes.find(({ pattern }) => pattern.test(path))?.methods.get(method);
  }

  private validator(schema: object): ValidateFunction {
    const known = this.validators.get(schema) ?? this.ajv.compile(schema);
    this.validators.set(schema, known);
    return known;
  }
}

/** Finds faults in responses of `/graphql`, by the schema. */
export function faultsOfGraphQL(schema: GraphQLSchema, request: FuzzedRequest, response: Response): string[] {
  const { statusCode: status, payload } = response;
  const faults = faultsOfAll(response);
  const type = String(response.headers['content-type']);
  if (request.method === 'HEAD' || status === 204 || type.startsWith('text/html')) return faults;
  const json = jsonOf(payload) as { data?: unknown; errors?: (Error & { extensions?: Error })[] } & Error;
  if (json === undefined) return [...faults, 'the body is no JSON'];
  // Paths other than /graphql are answered as in REST.
  if (json.code !== undefined) return [...faults, ...faultsOfError(json, status)];
  const { data, errors } = json;
  if (errors && !errors.length) faults.push('an empty list of errors');
  // Clients that accept only application/json get 200 for an invalid document.
  const isLegacy = data === undefined && status === 200 && request.headers.accept !== undefined;
  const http = isLegacy ? 400 : data === undefined ? status : undefined;
  for (const { message, extensions } of errors ?? []) faults.push(...faultsOfError({ message, ...extensions }, http));
  if (data === undefined && !errors) faults.push('neither data nor errors');
  if (data === undefined) return faults;
  if (status !== 200) faults.push(`data with ${status}`);
  const document = documentOf(request);
  if (data !== null && !document) faults.push('data for no document');
  if (data !== null && document) faults.push(...misfits(schema, document, data));
  return faults;
}

function faultsOfAll({ statusCode, headers, payload }: Response): string[] {
  const faults: string[] = [];
  if (statusCode >= 500 || statusCode < 200) faults.push(`status ${statusCode}`);
  const missing = LIMIT_HEADERS.filter((name) => headers[name] === undefined);
  if (missing.length) faults.push(`without ${missing.join(', ')}`);
  if (headers['set-cookie'] !== undefined || headers['x-powered-by'] !== undefined) faults.push('a header too many');
  const told = `${JSON.stringify(headers)}\n${payload}`;
  const leak = String(headers['content-type']).startsWith('text/html') ? null : INTERNALS.exec(told);
  if (leak) faults.push(`tells of internals: ${told.slice(Math.max(0, leak.index - 40), leak.index + 80)}`);
  return faults;
}

function faultsOfError({ code, status, message }: Error, http: number | undefined): string[] {
  const faults: string[] = [];
  if (typeof message !== 'string' || !message || message.length > 500) faults.push('no message, or a long one');
  const expected = isErrorCode(code) ? ERRORS[code].status : undefined;
  if (expected !== status) faults.push(`code ${code} with status ${status}`);
  if (http !== undefined && status !== http) faults.push(`status ${status} in HTTP's ${http}`);
  if (Number(status) >= 500) faults.push(`error ${code}`);
  return faults;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The document that was answered. */
function documentOf({ method, url, payload }: FuzzedRequest): DocumentNode | undefined {
  try {
    const text =
      method === 'GET' ? new URL(url, 'http://x').searchParams.get('query') : JSON.parse(String(payload)).query;
    return parse(text);
  } catch {
    return undefined;
  }
}
