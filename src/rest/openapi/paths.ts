import type { OpenAPIV3 } from 'openapi-types';
import { ERROR_STATUS } from '../../graphql/errors';
import { PATCH_TYPES } from '../json-body';
import { documentationOf } from '../markers';
import type { PreparedOperation } from '../prepare';
import { errorsOf } from './errors';
import { type HeaderName, headersOf } from './headers';
import { parametersOf } from './parameters';

/** How far an operation is settled, and how long it answers. */
interface Extensions {
  'x-stability'?: string;
  /** A date (RFC 3339). */
  'x-sunset'?: string;
}

/** The paths of the operations. */
export function pathsOf(operations: readonly PreparedOperation[]): OpenAPIV3.PathsObject<Extensions> {
  const paths: Record<string, OpenAPIV3.PathItemObject<Extensions>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation),
    };
  }
  return paths;
}

function operationObject(operation: PreparedOperation): OpenAPIV3.OperationObject<Extensions> {
  const { id, tag, summary, body, deprecation, stability } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    parameters: parametersOf(operation),
    ...(body && { requestBody: requestBody(operation, body) }),
    responses: { ...successOf(operation), ...errorsOf(operation) },
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
      externalDocs: { url: documentationOf(operation), description: 'What to use instead' },
    }),
    ...(stability && !stability.parameter && { 'x-stability': stability.level }),
  };
}

function descriptionOf({ description = '', errors = [] }: PreparedOperation): string {
  const own = errors.map((code) => `\`${code}\` (${ERROR_STATUS[code]})`).join(', ');
  return [description, own && `Errors of its own: ${own}.`].filter(Boolean).join('\n\n');
}

function requestBody({ method }: PreparedOperation, schema: string): OpenAPIV3.RequestBodyObject {
  const types = method === 'PATCH' ? PATCH_TYPES : (['application/json'] as const);
  const content = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

function successOf(operation: PreparedOperation): OpenAPIV3.ResponsesObject {
  const [status, payload] = operation.ok;
  const headers = headersOf(...successHeaders(operation));
  if (!payload) return { [status]: { description: 'It is done.', headers } };
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${payload}` } } };
  return {
    [status]: { description: operation.summary, headers, content },
    ...(operation.method === 'GET' && {
      304: { description: 'The copy of the client is still good.', headers },
    }),
  };
}

function successHeaders({
  method,
  ok,
  isPage,
  runsOnce,
  deprecation,
  stability,
}: PreparedOperation): HeaderName[] {
  return [
    ...(method === 'GET' ? (['ETag'] as const) : []),
    ...(ok[0] === 201 ? (['Location'] as const) : []),
    ...(isPage || deprecation ? (['Link'] as const) : []),
    ...(deprecation ? (['Deprecation', 'Sunset'] as const) : []),
    ...(runsOnce ? (['Idempotent-Replayed'] as const) : []),
    ...(stability || runsOnce ? (['X-Stability'] as const) : []),
  ];
}
