import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
} from 'graphql';
import { type Catalogue, rulesOf } from '../../errors/codes';
import { type Element, ruleOf } from '../../errors/input-checks';
import { keywordsOfField, keywordsOfType } from '../../graphql/json-schema';
import type { SelectedField } from '../../graphql/selected';
import type { Body } from '../inputs';
import type { Payload } from '../payload';
import type { PreparedRoute } from '../prepared-route';
import { INT32, restNamesOf, SCALARS } from '../scalar-formats';
import { arrayOf, MAX_TEXT, REQUEST_EXAMPLE, REQUEST_ID, type Ref, type Schema, schemaOf } from './values';

type Schemas = Record<string, Schema>;

/** Derives the schemas of response payloads and request bodies (docs/specification.md) from the GraphQL types. */
export function schemasOf(operations: readonly PreparedRoute[]): Schemas {
  const schemas: Schemas = {};
  for (const { inputs, payload, ok } of operations) {
    for (const { type } of [...inputs.query.values(), ...(inputs.body?.inputs.values() ?? [])])
      addEnum(schemas, getNamedType(type));
    if (inputs.body) schemas[inputs.body.type.name] = bodySchema(inputs.body, payload);
    if (ok !== 204) addPayload(schemas, payload);
  }
  return schemas;
}

function addPayload(schemas: Schemas, { name, type, members, isPage, isList, maxItems }: Payload): void {
  addObject(schemas, type, members);
  if (!isList) return;
  schemas[name] = {
    ...arrayOf(type.name, maxItems),
    description: isPage ? 'A page of the list; the next page is in `Link`.' : 'The whole list.',
    example: [objectExample(type, members)],
  };
}

function addObject(schemas: Schemas, type: GraphQLObjectType, members: readonly SelectedField[]): void {
  for (const { field, selection } of members) {
    const inner = getNamedType(field.type);
    addEnum(schemas, inner);
    if (isObjectType(inner) && selection) addObject(schemas, inner, selection.fields);
  }
  const always = members.filter(({ field }) => isNonNullType(field.type)).map(({ key }) => key);
  const { required = always } = keywordsOfType(type);
  const example = objectExample(type, members);
  // For some types, the gateway always sends more fields than the specification requires. Their descriptions list all fields
  // that are always sent.
  const isMore = always.length > required.length;
  const presence = isMore ? ` Always present: ${always.map((name) => `\`${name}\``).join(', ')}.` : '';
  schemas[type.name] = {
    type: 'object',
    description: `${type.description}${presence}`,
    example,
    ...(required.length && { required: [...required] }),
    properties: Object.fromEntries(
      members.map(({ key, field, selection }) => [
        key,
        propertyOf(field, example[key] ?? exampleOf(field, selection?.fields)),
      ]),
    ),
  };
}

function addEnum(schemas: Schemas, type: GraphQLNamedType): void {
  if (!isEnumType(type)) return;
  const values = restNamesOf(type);
  schemas[type.name] = { type: 'string', enum: values, description: String(type.description), example: values[0] };
}

/** The schema of a request body. A field that is also in the payload has the same example as in the payload. */
function bodySchema({ type }: Body, payload: Payload): Schema {
  const shown = payload.type.getFields();
  const members = Object.values(type.getFields()).map((field) => ({
    field,
    example: exampleOf(shown[field.name] ?? field),
    canBeNull: !isNonNullType(field.type) && ruleOf(field).nullable !== false,
  }));
  const required = members.filter(({ field }) => isRequiredInputField(field)).map(({ field }) => field.name);
  return {
    type: 'object',
    description: String(type.description),
    example:
      keywordsOfType(type).example ?? Object.fromEntries(members.map(({ field, example }) => [field.name, example])),
    ...(required.length && { required }),
    properties: Object.fromEntries(
      members.map(({ field, example, canBeNull }) => [field.name, propertyOf(field, example, canBeNull)]),
    ),
    additionalProperties: false,
  };
}

/** The schema of a property. A `$ref` gets no other keywords, since OpenAPI 3.0 ignores them. `id` is read-only. */
function propertyOf(field: Element, example: unknown, nullable = false): Schema | Ref {
  const schema = schemaOf(field);
  if ('$ref' in schema) return schema;
  return {
    ...schema,
    ...keywordsOfField(field),
    ...(field.description && { description: field.description }),
    ...(example !== undefined && { example }),
    ...(nullable && { nullable }),
    ...(field.name === 'id' && { readOnly: true }),
  };
}

/** The example for a field: the field's own example, or else an example for its type; `undefined` if there is neither. */
function exampleOf(field: Element, members: readonly SelectedField[] = []): unknown {
  const { example } = keywordsOfField(field);
  if (example !== undefined) return example;
  const type = getNamedType(field.type);
  const one = members.length ? objectExample(type as GraphQLObjectType, members) : leafExample(type);
  return isListType(getNullableType(field.type)) ? [one] : one;
}

function leafExample(type: GraphQLNamedType): unknown {
  return isEnumType(type) ? restNamesOf(type)[0] : SCALARS[type.name]?.example;
}

/** The example for an object: the example of its type, or else an object of the examples of its fields. */
function objectExample(type: GraphQLObjectType, members: readonly SelectedField[]): Readonly<Record<string, unknown>> {
  const examples = members.map(({ key, field, selection }) => [key, exampleOf(field, selection?.fields)]);
  return keywordsOfType(type).example ?? Object.fromEntries(examples);
}

/**
 * The schemas of the `Error` object and its details: docs/specification.md, with the fields that the gateway adds.
 */
export const errorSchemas = (catalogue: Catalogue): Readonly<Record<'Error' | 'ErrorDetail', Schema>> => ({
  Error: {
    type: 'object',
    description: 'The reason why a request was rejected or failed.',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        enum: [...catalogue.keys()],
        description: 'A machine-readable error code',
        example: 'BAD_USER_INPUT',
      },
      message: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'A human-readable description of the error',
        example: 'name: must not be empty',
      },
      status: {
        ...INT32,
        minimum: 400,
        maximum: 599,
        description: 'The HTTP status code',
        example: 400,
      },
      details: { ...arrayOf('ErrorDetail'), description: 'Each problem with the input' },
      requestId: {
        ...REQUEST_ID,
        description: 'The id of the request, as in `X-Request-Id`; a replayed response has the id of the first request',
        example: REQUEST_EXAMPLE,
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    description: 'One problem with the input.',
    required: ['path', 'message'],
    properties: {
      path: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'The parameter or the field of the body',
        example: 'name',
      },
      message: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'What is wrong, in words',
        example: 'must not be empty',
      },
      rule: {
        type: 'string',
        enum: [...rulesOf(catalogue).keys()],
        description: `The rule that the value breaks, for programs; absent for all other faults.\n\n${meaningsOf(catalogue)}`,
        example: 'TOO_SHORT',
      },
      params: {
        type: 'object',
        description:
          'The values of the rule, such as `max`, or a cursor from which to continue; absent if there are none',
        additionalProperties: {
          oneOf: [
            { type: 'integer', format: 'int64' },
            { type: 'string', maxLength: MAX_TEXT },
          ],
        },
        example: { min: 1 },
      },
    },
  },
});

function meaningsOf(catalogue: Catalogue): string {
  return Array.from(rulesOf(catalogue), ([rule, meaning]) => `- \`${rule}\`: ${meaning}`).join('\n');
}
