import { type GraphQLInputType, getNamedType, getNullableType, isListType } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { IDEMPOTENCY_KEY_FORM } from '../../graphql/idempotency/idempotency-header';
import type { Input } from '../inputs';
import type { PreparedOperation } from '../prepare';
import { INT32, INT64, PAGE_SIZE } from './values';

/** A parameter and its stability. */
type Parameter = OpenAPIV3.ParameterObject & { 'x-stability'?: string };
type Schema = OpenAPIV3.SchemaObject | OpenAPIV3.ReferenceObject;

/** Shared parameters. Without examples, which would be filled into forms. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of items per page.',
    schema: PAGE_SIZE,
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    description: 'Where the page starts, from the `Link` with `rel="next"` of the previous page.',
    schema: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[\\w-]+$' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags of copies that the client has; the response is 304 if one of them is current.',
    schema: { type: 'string', maxLength: 16_384 },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the request safe to retry: for 24 hours, the same request from the same caller with the same key gets the response of the first one, and changes nothing. 1 to 255 visible ASCII characters, such as a new UUID.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_FORM.source, maxLength: 512 },
    'x-stability': 'experimental',
  },
};

/** The parameters of an operation. */
export function parametersOf(operation: PreparedOperation): (Parameter | OpenAPIV3.ReferenceObject)[] {
  const { inputs, method, runsOnce } = operation;
  return [
    ...[...inputs.path.values()].map((input) => pathParameter(input)),
    ...[...inputs.query.values()].map((input) => queryParameter(operation, input)),
    ...(method === 'GET' ? [shared('ifNoneMatch')] : []),
    ...(runsOnce ? [shared('idempotencyKey')] : []),
  ];
}

function shared(name: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

function pathParameter({ name, type }: Input): Parameter {
  const resource = name.replace(/Id$/, '');
  return {
    name,
    in: 'path',
    required: true,
    description: `The id of the ${resource}.`,
    schema: schemaOf(type),
    example: 1,
  };
}

function queryParameter({ parameters = {}, stability, id }: PreparedOperation, input: Input) {
  const { name, type, sorts } = input;
  if (Object.hasOwn(PARAMETERS, name)) return shared(name);
  if (sorts) return sortParameter(name, [...sorts.keys()]);
  const description = parameters[name];
  if (!description) throw new Error(`REST operation ${id}: parameter ${name} has no description`);
  return {
    name,
    in: 'query',
    description,
    schema: schemaOf(type),
    ...(stability?.parameter === name && { 'x-stability': stability.level }),
  };
}

function sortParameter(name: string, sorts: string[]): Parameter {
  return {
    name,
    in: 'query',
    description: 'The sort order of the list; a leading `-` sorts in descending order.',
    schema: { type: 'string', enum: sorts, default: sorts[0] },
  };
}

/** How often a parameter may be repeated; no more would fit into a URL. */
const MAX_VALUES = 4096;

const SCALARS: Readonly<Record<string, Schema>> = {
  ID: INT64,
  Int: INT32,
  String: { type: 'string', maxLength: 255 },
  Boolean: { type: 'boolean' },
};

function schemaOf(type: GraphQLInputType): Schema {
  const { name } = getNamedType(type);
  const schema = SCALARS[name] ?? { $ref: `#/components/schemas/${name}` };
  return isListType(getNullableType(type)) ? { type: 'array', items: schema, maxItems: MAX_VALUES } : schema;
}
