import type { OpenAPIV3 } from 'openapi-types';
import type { Catalogue } from '../../errors/codes';
import type { Body } from '../inputs';
import { EVENT_STREAM, JSON_TYPE, PATCH_TYPES } from '../media-types';
import type { PreparedRoute } from '../prepared-route';
import { documentationOf, type Method } from '../rest-route';
import { type Codes, errorResponsesOf } from './error-responses';
import { parametersOf } from './parameters';
import { annotationHeaderNames, HEADERS, headersOf } from './response-headers';
import { ref } from './values';

/** OpenAPI extensions of an operation: its stability, and its sunset if it is deprecated. */
interface Extensions {
  'x-stability'?: string;
  /** A date in the format of RFC 3339: `2027-11-01`. */
  'x-sunset'?: string;
}

/** Creates the path items of the operations. @param common the codes of the shared error responses. */
export function pathsOf(
  operations: readonly PreparedRoute[],
  common: Codes,
  catalogue: Catalogue,
): OpenAPIV3.PathsObject<Extensions> {
  const paths: Record<string, OpenAPIV3.PathItemObject<Extensions>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation, common, catalogue),
    };
  }
  return paths;
}

function operationObject(
  operation: PreparedRoute,
  common: Codes,
  catalogue: Catalogue,
): OpenAPIV3.OperationObject<Extensions> {
  const { id, tag, summary, inputs, deprecation, stability } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation, catalogue),
    parameters: parametersOf(operation),
    ...(inputs.body && { requestBody: requestBody(inputs.body, operation) }),
    responses: { ...successOf(operation), ...errorResponsesOf(operation, common, catalogue) },
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
      externalDocs: { url: documentationOf(operation), description: 'What to use instead' },
    }),
    ...(stability && !stability.parameter && { 'x-stability': stability.level }),
  };
}

function descriptionOf({ description, inputs, errors, scope }: PreparedRoute, catalogue: Catalogue): string {
  const needs = scope && `Requires the scope \`${scope}\`.`;
  const own = errors.map((code) => `\`${code}\` (${catalogue.get(code)?.status})`).join(', ');
  const isFiltered = [...inputs.query.values()].some(({ errorPath }) => errorPath.includes('.'));
  const filters = isFiltered && 'Filters combine: each item matches all given filters.';
  return [description, filters, needs, own && `Errors that this operation itself can cause: ${own}.`]
    .filter(Boolean)
    .join('\n\n');
}

function requestBody({ type, isPatch }: Body, operation: PreparedRoute): OpenAPIV3.RequestBodyObject {
  const types = isPatch ? PATCH_TYPES : ([JSON_TYPE] as const);
  const content = { schema: ref(type.name) };
  return {
    description: isPatch
      ? 'The fields to change: a JSON merge patch (RFC 7396).'
      : isAction(operation)
        ? 'The change.'
        : 'The whole resource, without its id.',
    required: true,
    content: Object.fromEntries(types.map((media) => [media, content])),
  };
}

function successOf(operation: PreparedRoute): OpenAPIV3.ResponsesObject {
  const { ok, method, acceptsIdempotencyKey, payload, additions } = operation;
  const headers = headersOf(
    ...(ok === 204 ? [] : (['ETag'] as const)),
    ...(method === 'GET' ? (['Cache-Control'] as const) : []),
    ...(ok === 201 ? (['Location'] as const) : []),
    ...(payload.isPage ? (['Link'] as const) : []),
    ...(acceptsIdempotencyKey ? (['Idempotent-Replayed'] as const) : []),
    ...annotationHeaderNames(operation),
  );
  const description = isAction(operation) ? SUCCESS.PATCH : SUCCESS[method];
  if (ok === 204) return { [ok]: { description, headers } };
  const content = {
    [JSON_TYPE]: { schema: ref(payload.name) },
    ...(additions && { [EVENT_STREAM]: { schema: STREAM } }),
  };
  return {
    [ok]: { description, headers: { ...headers, ...(additions && STREAM_HEADERS) }, content },
    ...(method === 'GET' && {
      304: { description: "The client's copy is current.", headers },
    }),
  };
}

const STREAM = {
  type: 'string',
  description:
    'Server-sent events without names. The `data` of each is an item, and its `id` the cursor after the item.',
  example: 'id: NjM4YjI0ZTcxIDEgMTc5NTg2MDAwMDAwMA\ndata: {"id":1}\n\n',
} as const;

/** A stream has no ETag. */
const STREAM_HEADERS = { ETag: { ...HEADERS.ETag, required: false } };

/** Whether the operation changes a resource by POST, instead of creating one. */
function isAction({ method, ok }: PreparedRoute): boolean {
  return method === 'POST' && ok !== 201;
}

const SUCCESS: Readonly<Record<Method, string>> = {
  GET: 'The requested data.',
  POST: 'The new resource.',
  PUT: 'The resource after the change.',
  PATCH: 'The resource after the change.',
  DELETE: 'Deleted.',
};
