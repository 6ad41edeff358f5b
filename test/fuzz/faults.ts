import { isDeepStrictEqual } from 'node:util';
import type { LightMyRequestResponse as Response } from 'fastify';
import { execute, type GraphQLSchema, parse } from 'graphql';
import { gatewayDomains } from '../../src/app/domains';
import type { FuzzedRequest } from './callers';

const CATALOGUE = gatewayDomains().errors;

/** Texts about the database, the code or the machine that no response may contain. No fuzzed request contains them. */
const INTERNALS =
  /prisma|postgres|pglite|sqlstate|syntax error at or near|violates \w+ constraint|invalid input syntax|node_modules|\.[jt]s:\d+|\n\s+at \S+ \(|TypeError|ReferenceError|RangeError|FST_ERR|\bE(CONN|NOENT|PERM)|\b\w+_(pkey|fkey|check)\b/i;

const LIMIT_HEADERS = [
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'],
];

interface Problem {
  code?: unknown;
  status?: unknown;
  message?: unknown;
}

/**
 * Describes the faults of a REST response. `inject` also checks the response against the OpenAPI document: see
 * helper/openapi.ts.
 */
export function faultsOfRest(request: FuzzedRequest, response: Response): string[] {
  const { statusCode: status, payload } = response;
  const faults = commonFaults(response);
  const isEmpty = request.method === 'HEAD' || status === 204 || status === 304;
  if (isEmpty) return payload === '' ? faults : [...faults, `a body with status ${status}`];
  return status >= 400 && !isPage(response)
    ? [...faults, ...problemFaults(parsed(payload) as Problem, status)]
    : faults;
}

/** Describes the faults of a response of `/graphql`. Its data must have the fields and types of the document. */
export function faultsOfGraphQL(schema: GraphQLSchema, request: FuzzedRequest, response: Response): string[] {
  const { statusCode: status, payload } = response;
  const faults = commonFaults(response);
  if (request.method === 'HEAD' || status === 204 || isPage(response)) return faults;
  const body = parsed(payload) as { data?: unknown; errors?: { message: string; extensions?: object }[] } & Problem;
  if (body?.code !== undefined) return [...faults, ...problemFaults(body, status)];
  const { data, errors } = body ?? {};
  if (data === undefined && !errors?.length) return [...faults, 'neither data nor errors'];
  // Clients that accept only application/json get 200 for an invalid document.
  const http = data === undefined && (status !== 200 || request.headers.accept === undefined) ? status : undefined;
  for (const { message, extensions } of errors ?? []) faults.push(...problemFaults({ message, ...extensions }, http));
  if (data === undefined) return faults;
  if (status !== 200) faults.push(`data with status ${status}`);
  return data === null ? faults : [...faults, ...dataFaults(schema, request, data)];
}

function commonFaults(response: Response): string[] {
  const { statusCode, headers, payload } = response;
  const faults: string[] = [];
  if (statusCode >= 500 || statusCode < 200) faults.push(`status ${statusCode}`);
  const missing = LIMIT_HEADERS.filter((name) => headers[name] === undefined);
  if (missing.length) faults.push(`without the headers ${missing.join(', ')}`);
  if (headers['set-cookie'] !== undefined || headers['x-powered-by'] !== undefined) faults.push('a forbidden header');
  const text = `${JSON.stringify(headers)}\n${payload}`;
  const leak = isPage(response) ? null : INTERNALS.exec(text);
  if (leak) faults.push(`reveals internals: ${text.slice(Math.max(0, leak.index - 40), leak.index + 80)}`);
  return faults;
}

/** @param http the HTTP status, which must equal the status in the error; `undefined` if the two may differ. */
function problemFaults(problem: Problem | undefined, http?: number): string[] {
  const { code, status, message } = problem ?? {};
  const faults: string[] = [];
  if (typeof message !== 'string' || !message || message.length > 500) faults.push('a missing or overlong message');
  if (CATALOGUE.get(String(code))?.status !== status) faults.push(`code ${code} with status ${status}`);
  if (http !== undefined && status !== http) faults.push(`error status ${status} with HTTP status ${http}`);
  if (Number(status) >= 500) faults.push(`error ${code}`);
  return faults;
}

/**
 * Executes the document with the response's data instead of resolvers. The result equals the data if the data has exactly the
 * selected fields, of the right types.
 */
function dataFaults(schema: GraphQLSchema, { method, url, payload }: FuzzedRequest, data: object): string[] {
  const search = new URL(url, 'http://localhost').searchParams;
  const body = method === 'GET' ? Object.fromEntries(search) : JSON.parse(String(payload));
  const variables = method === 'GET' ? JSON.parse(body.variables || '{}') : body.variables;
  let isTyped = true;
  const result = execute({
    schema,
    document: parse(body.query),
    rootValue: data,
    operationName: body.operationName || undefined,
    variableValues: variables,
    fieldResolver: (source, _args, _context, info) => source[info.path.key],
    typeResolver: (value, _context, _info, type) => {
      isTyped &&= '__typename' in value;
      return isTyped ? value.__typename : schema.getPossibleTypes(type)[0]?.name;
    },
  });
  const isSame = () => isDeepStrictEqual(JSON.parse(JSON.stringify(result)), JSON.parse(JSON.stringify({ data })));
  if (!isTyped || isSame()) return [];
  return [`data does not fit the document: graphql-js returns ${JSON.stringify(result)}`];
}

const isPage = ({ headers }: Response) => String(headers['content-type']).startsWith('text/html');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
