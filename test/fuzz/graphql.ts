import fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { queries } from '../net/queries';
import { bySomebody, type FuzzedRequest } from './callers';
import { anyJson, broken, fitting, mostly, objectText, texts } from './values';

/** A document and its variables as JSON text. */
interface Operation {
  text: string;
  variables: string;
}

const SCRAPS = [
  ...[
    '{',
    '}',
    '(',
    ')',
    ':',
    '$',
    '$x',
    '!',
    '...',
    '@',
    '"',
    '"""',
    '#',
    '&',
    '|',
    '=',
    '\\u0000',
    '\0',
    '\ufeff',
    '🐕',
  ],
  ...[
    '@skip(if: true)',
    '@include(if: $no)',
    '@deprecated',
    '... on Pet { id }',
    '...f',
    '__typename',
    '__schema { types { name } }',
  ],
  ...[
    'fragment f on Query { ...f }',
    'query',
    'mutation { __typename }',
    'subscription { x }',
    'null',
    '1e400',
    '00',
    '-0',
    '{}',
  ],
  ...[
    'a'.repeat(5000),
    '{a'.repeat(3000),
    '"\\ud800"',
    '"\\u{10ffff}"',
    '__proto__',
    'constructor: __typename',
    'extend',
  ],
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'application/graphql',
  '',
  'application/json;a',
];

/** Requests to `/graphql`, generated from the schema: valid, almost valid, and nonsense. */
export function graphqlRequests(schema: GraphQLSchema): fc.Arbitrary<FuzzedRequest> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (type) => !!type,
  );
  const nested = queries(schema).map(({ text, variables }) => ({
    text,
    variables: JSON.stringify(variables),
  }));
  const sound = fc.oneof(nested, ...roots.map((root) => operations(root)));
  const any = mostly(
    sound,
    broken(
      sound.map(({ text }) => text),
      SCRAPS,
    ).map((text) => ({ text, variables: '{}' })),
    6,
  );
  return bySomebody(fc.oneof({ arbitrary: posts(any), weight: 12 }, { arbitrary: gets(any), weight: 2 }, strange));
}

function posts(operation: fc.Arbitrary<Operation>) {
  return fc
    .record({
      operation,
      variables: mostly(fc.constant(undefined), anyJson, 12),
      operationName: mostly(fc.constant(undefined), fc.oneof(fc.constant('"one"'), anyJson), 12),
      extensions: mostly(fc.constant(undefined), fc.oneof(persisted, anyJson), 12),
      type: mostly(fc.constant('application/json'), fc.constantFrom(...TYPES), 12),
    })
    .map(({ operation, variables = operation.variables, operationName, extensions, type }) => ({
      method: 'POST',
      url: '/graphql',
      type,
      payload: `{"query":${JSON.stringify(operation.text)},"variables":${variables}${field('operationName', operationName)}${field('extensions', extensions)}}`,
    }));
}

const persisted = fc
  .tuple(fc.constantFrom('1', '2', '"1"'), fc.constantFrom('0'.repeat(64), 'x', ''))
  .map(([version, hash]) => `{"persistedQuery":{"version":${version},"sha256Hash":"${hash}"}}`);

function field(name: string, json: string | undefined): string {
  return json === undefined ? '' : `,"${name}":${json}`;
}

function gets(operation: fc.Arbitrary<Operation>) {
  return fc
    .tuple(
      operation,
      mostly(fc.constant(''), fc.constantFrom('&variables', '&query=1', '&operationName=%00', '&a[]=1'), 6),
    )
    .map(([{ text, variables }, more]) => ({
      method: 'GET',
      url: `/graphql?query=${encodeURIComponent(text.toWellFormed())}&variables=${encodeURIComponent(variables.toWellFormed())}${more}`,
      type: 'application/json',
    }));
}

/** Bodies that are barely GraphQL requests. */
const strange = fc.record({
  method: fc.constantFrom('POST', 'GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'),
  url: fc.constantFrom('/graphql', '/graphql?', '/graphql?query', '/graphql?query=%00', '/graphql/'),
  type: fc.constantFrom(...TYPES),
  payload: fc.oneof(
    anyJson,
    anyJson.map((json) => `{"query":${json}}`),
    anyJson.map((json) => `[{"query":${json}}]`),
  ),
});

/** Operations with one to three root fields; each argument is a literal or a variable, possibly at a boundary. */
function operations(root: GraphQLObjectType): fc.Arbitrary<Operation> {
  const one = fc.oneof(...Object.values(root.getFields()).map((field) => fieldOf(field, 2)));
  const kind = root.name.toLowerCase();
  return fc
    .tuple(fc.array(one, { minLength: 1, maxLength: 3 }), mostly(fc.constant('one'), fc.constant(''), 3))
    .map(([fields, name]) => {
      const given: { declared: string; json: string | undefined }[] = [];
      const body = fields.map((field, i) => `f${i}: ${field(given)}`).join(' ');
      const declared = given.map((variable, i) => `$v${i}: ${variable.declared}`).join(', ');
      const values = given.flatMap(({ json }, i) => (json === undefined ? [] : [`"v${i}":${json}`]));
      return {
        text: `${kind} ${name}${declared && `(${declared})`} { ${body} }`,
        variables: `{${values.join(',')}}`,
      };
    });
}

/** The text of a field; the variables it needs are added to those of its operation. */
type Written = (variables: { declared: string; json: string | undefined }[]) => string;

function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Written> {
  const type = getNamedType(field.type);
  const inner =
    isObjectType(type) || isInterfaceType(type) ? selection(type, depth - 1) : fc.constant<Written>(() => '');
  return fc.tuple(fc.tuple(...field.args.map(argument)), inner).map(([args, body]) => (variables) => {
    const given = args.map((write) => write(variables)).filter(Boolean);
    return `${field.name}${given.length ? `(${given.join(', ')})` : ''} ${body(variables)}`.trim();
  });
}

function selection(type: GraphQLObjectType | GraphQLInterfaceType, depth: number): fc.Arbitrary<Written> {
  const fields = Object.values(type.getFields()).filter(
    ({ type }) => isLeafType(getNamedType(type)) || (depth > 0 && isObjectType(getNamedType(type))),
  );
  if (!fields.length) return fc.constant(() => '{ __typename }');
  const some = fc.array(fc.oneof(...fields.map((field) => fieldOf(field, depth))), {
    minLength: 1,
    maxLength: 3,
  });
  return some.map((list) => (variables) => `{ ${list.map((write, i) => `g${i}: ${write(variables)}`).join(' ')} }`);
}

function argument(arg: GraphQLArgument): fc.Arbitrary<Written> {
  const { name, type } = arg;
  const literal = valuesOf(type, false).map(
    (text): Written =>
      () =>
        `${name}: ${text}`,
  );
  const json = mostly(valuesOf(type, true), anyJson, 12);
  const variable = fc
    .tuple(
      mostly(fc.constant(String(type)), fc.constantFrom('ID', 'Int!', '[ID!]', 'PetFilter', 'Nothing', 'Pet'), 30),
      json,
    )
    .map(
      ([declared, json]): Written =>
        (variables) =>
          `${name}: $v${variables.push({ declared, json }) - 1}`,
    );
  const given = fc.oneof(literal, variable);
  return isRequiredArgument(arg)
    ? mostly(
        given,
        fc.constant<Written>(() => ''),
        30,
      )
    : mostly(
        fc.constant<Written>(() => ''),
        given,
        1,
      );
}

const SCALARS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ID: fitting.id,
  Int: fitting.integer,
  Boolean: fitting.boolean,
  DateTime: fitting.date,
  String: fitting.text,
};

/** Values of an input type, in JSON or GraphQL syntax. */
function valuesOf(type: GraphQLInputType, asJson: boolean): fc.Arbitrary<string> {
  const value = getNullableType(type);
  const wrong = asJson
    ? anyJson
    : fc.oneof(
        fc.constantFrom('null', '{}', '[]', '""', '$v0', 'WORD', '{a: 1}'),
        texts.map((text) => JSON.stringify(text)),
      );
  if (isListType(value)) {
    const item = valuesOf(value.ofType, asJson);
    return mostly(
      fc.array(item, { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      item,
    );
  }
  if (isEnumType(value)) {
    const names = value.getValues().map(({ name }) => (asJson ? `"${name}"` : name));
    return mostly(fc.constantFrom(...names), wrong, 12);
  }
  if (isInputObjectType(value)) {
    const fields = Object.values(value.getFields()).map((field) => ({
      name: field.name,
      value: valuesOf(field.type, asJson),
      required: isRequiredInputField(field),
    }));
    const object = objectText(fields, asJson);
    return mostly(object, wrong, 15);
  }
  return mostly(SCALARS[value.name] ?? fitting.text, wrong, 12);
}
