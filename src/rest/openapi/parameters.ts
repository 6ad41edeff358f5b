import type { OpenAPIV3 } from 'openapi-types';
import { ownDescription } from '../../graphql/descriptions';
import { IDEMPOTENCY_KEY_FORM } from '../../graphql/idempotency';
import type { Input } from '../inputs';
import { LAST_EVENT_ID } from '../list-stream';
import type { PreparedRoute, Stability } from '../prepared-route';
import { type Schema, schemaOf } from './values';

type Parameter = OpenAPIV3.ParameterObject & { 'x-stability'?: string };

/** The name of the page size parameter. */
const LIMIT = 'limit';

/**
 * The parameters that operations share. They have no examples, because Swagger UI would fill its forms with the examples.
 */
export function sharedParameters(operations: readonly PreparedRoute[]): Readonly<Record<string, Parameter>> {
  const limit = operations.flatMap(({ inputs }) => inputs.query.get(LIMIT) ?? [])[0];
  return {
    ...(limit && {
      limit: {
        name: LIMIT,
        in: 'query',
        description: 'Maximum number of items per page.',
        schema: schemaOfInput(limit),
      },
    }),
    ...SHARED,
  };
}

const SHARED: Readonly<Record<string, Parameter>> = {
  cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'Where the page starts: the value of this parameter in the `Link` with `rel="next"` of the previous page.',
    schema: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[\\w-]+$' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags of cached responses; the response is 304 if one of these ETags is current.',
    schema: { type: 'string', maxLength: 16_384 },
  },
  lastEventId: {
    name: LAST_EVENT_ID,
    in: 'header',
    description:
      'Where the stream starts: the last `id` that the client has received. It takes precedence over `cursor`.',
    schema: { type: 'string', maxLength: 4096, pattern: '^[\\w-]*$' },
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'Makes the change only if the resource still has this `ETag` (or one of several `ETag`s); otherwise the response is 412. `*` matches any existing resource.',
    schema: { type: 'string', maxLength: 16_384 },
  },
  ifUnknown: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'Makes the change only if the resource has none of these `ETag`s; otherwise the response is 412. `*` matches any existing resource.',
    schema: { type: 'string', maxLength: 16_384 },
  },
  requestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'The id for this request, in its response and in our log: 1 to 128 letters, digits and `_ . : -`. Without this header, or with any other value, the request gets a new id.',
    schema: { type: 'string', maxLength: 16_384 },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the request safe to retry: for 24 hours, the same request from the same caller with the same key gets the response of the first request, and changes nothing. 1 to 255 visible ASCII characters, such as a new UUID.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_FORM.source, maxLength: 512 },
  },
};

export function parametersOf(operation: PreparedRoute): (Parameter | OpenAPIV3.ReferenceObject)[] {
  const { inputs, isConditional, method, acceptsIdempotencyKey, stability, additions } = operation;
  return [
    ...[...inputs.path.values()].map(pathParameter),
    ...[...inputs.query.values()].map((input) => queryParameter(input, stability)),
    ...(method === 'GET' ? [shared('ifNoneMatch')] : []),
    ...(additions ? [shared('lastEventId')] : []),
    ...(isConditional ? [shared('ifMatch'), shared('ifUnknown')] : []),
    ...(acceptsIdempotencyKey ? [shared('idempotencyKey')] : []),
    shared('requestId'),
  ];
}

function shared(name: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

function pathParameter({ name, element }: Input): Parameter {
  const description = String(element.description);
  return { name, in: 'path', required: true, description, schema: schemaOf(element), example: 1 };
}

function queryParameter(input: Input, stability: Stability | undefined) {
  const { name, element, sorts, repeatable } = input;
  if (name === LIMIT || Object.hasOwn(SHARED, name)) return shared(name);
  const how = sorts
    ? ' A leading `-` sorts in descending order.'
    : repeatable
      ? ' Repeatable. An empty value is rejected.'
      : '';
  return {
    name,
    in: 'query',
    description: `${ownDescription(element)}${how}`,
    schema: schemaOfInput(input),
    ...(stability?.parameter === name && { 'x-stability': stability.level }),
  } satisfies Parameter;
}

function schemaOfInput({ element, sorts, fallback }: Input): Schema | OpenAPIV3.ReferenceObject {
  if (sorts) return { type: 'string', enum: [...sorts.orders.keys()], default: sorts.fallback };
  const schema = schemaOf(element);
  return '$ref' in schema || fallback === undefined ? schema : { ...schema, default: fallback };
}
