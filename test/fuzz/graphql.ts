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
import { byAnyCaller, type FuzzedRequest } from './callers';
import { anyJson, broken, fitting, mostly, objectText, texts } from './values';

/** The text of a document, and its variables as JSON text. */
interface Operation {
  text: string;
  variables: string;
}

const SCRAPS = [
  ...['{', '}', '(', ')', ':', '$', '$x', '!', '...', '@', '"', '"""', '#', '&', '|', '=', '\\u0000', '\0', '\ufeff'],
  ...['@skip(if: true)', '@include(if: $no)', '... on Pet { id }', '...f', '__typename'],
  ...['fragment f on Query { ...f }', 'query', 'mutation { __typename }', 'null', '1e400', '00', '-0', '{}', '🐕'],
  ...['a'.repeat(5000), '{a'.repeat(3000), '"\\ud800"', '"\\u{10ffff}"', '__proto__', 'constructor: __typename'],
];
const TYPES = [...['application/json; charset=utf-8', 'text/plain', 'application/graphql', '', 'application/json;a']];
const URLS = ['/graphql', '/graphql?', '/graphql?query', '/graphql?query=%00', '/graphql/'];

/** Requests to `/graphql`, generated from the schema: valid, almost valid, and nonsense. */
export function graphqlRequests(schema: GraphQLSchema): fc.Arbitrary<FuzzedRequest> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const sound = fc.oneof(...roots.flatMap((root) => (root ? operations(root) : [])));
  const documents = sound.map(({ text }) => text);
  const damaged = broken(documents, SCRAPS).map((text) => ({ text, variables: '{}' }));
  const any = mostly(sound, damaged);
  return byAnyCaller(fc.oneof({ arbitrary: posts(any), weight: 12 }, { arbitrary: gets(any), weight: 2 }, NONSENSE));
}

function posts(operation: fc.Arbitrary<Operation>) {
  const rarely = (json: fc.Arbitrary<string>) => mostly(fc.constant(undefined), json, 12);
  const hash = '{"persistedQuery":{"version":1,"sha256Hash":"';
  const persisted = fc.constantFrom(`${hash}${'0'.repeat(64)}"}}`, `${hash}x"}}`, '{"persistedQuery":{"version":2}}');
  return fc
    .record({
      operation,
      variables: rarely(anyJson),
      operationName: rarely(fc.oneof(fc.constant('"one"'), anyJson)),
      extensions: rarely(fc.oneof(persisted, anyJson)),
      type: mostly(fc.constant('application/json'), fc.constantFrom(...TYPES), 12),
    })
    .map(({ operation, variables = operation.variables, operationName, extensions, type }) => {
      const members = { query: JSON.stringify(operation.text), variables, operationName, extensions };
      const given = Object.entries(members).filter(([, json]) => json !== undefined);
      const payload = `{${given.map(([name, json]) => `"${name}":${json}`).join(',')}}`;
      return { method: 'POST', url: '/graphql', type, payload };
    });
}

function gets(operation: fc.Arbitrary<Operation>) {
  const more = fc.constantFrom('', '', '', '&variables', '&query=1', '&operationName=%00', '&a[]=1');
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
  return fc.tuple(operation, more).map(([{ text, variables }, more]) => ({
    method: 'GET',
    url: `/graphql?query=${encoded(text)}&variables=${encoded(variables)}${more}`,
    type: 'application/json',
  }));
}

/** Requests with random JSON bodies, which are hardly ever valid GraphQL requests. */
const NONSENSE = fc.record({
  method: fc.constantFrom('POST', 'GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'),
  url: fc.constantFrom(...URLS),
  type: fc.constantFrom('application/json', ...TYPES),
  payload: fc.oneof(
    anyJson,
    anyJson.map((json) => `{"query":${json}}`),
    anyJson.map((json) => `[{"query":${json}}]`),
  ),
});

interface Variable {
  declared: string;
  json: string;
}

/** Returns the text of a part of a document. Adds the variables of that part to `variables`. */
type Writer = (variables: Variable[]) => string;

const NOTHING = fc.constant<Writer>(() => '');

/** Operations with one to three root fields. Arguments are literals or variables, often with boundary values. */
function operations(root: GraphQLObjectType): fc.Arbitrary<Operation> {
  const one = fc.oneof(...Object.values(root.getFields()).map((field) => fieldOf(field, 2)));
  const name = mostly(fc.constant('one'), fc.constant(''), 3);
  return fc.tuple(fc.array(one, { minLength: 1, maxLength: 3 }), name).map(([fields, name]) => {
    const given: Variable[] = [];
    const body = fields.map((write, i) => `f${i}: ${write(given)}`).join(' ');
    const declared = given.map((variable, i) => `$v${i}: ${variable.declared}`).join(', ');
    return {
      text: `${root.name.toLowerCase()} ${name}${declared && `(${declared})`} { ${body} }`,
      variables: `{${given.map(({ json }, i) => `"v${i}":${json}`).join(',')}}`,
    };
  });
}

function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Writer> {
  const type = getNamedType(field.type);
  const inner = isObjectType(type) || isInterfaceType(type) ? selection(type, depth - 1) : NOTHING;
  return fc.tuple(fc.tuple(...field.args.map(argument)), inner).map(([args, body]) => (variables) => {
    const given = args.map((write) => write(variables)).filter(Boolean);
    return `${field.name}${given.length ? `(${given.join(', ')})` : ''} ${body(variables)}`.trim();
  });
}

function selection(type: GraphQLObjectType | GraphQLInterfaceType, depth: number): fc.Arbitrary<Writer> {
  const fields = Object.values(type.getFields()).filter(
    ({ type }) => isLeafType(getNamedType(type)) || (depth > 0 && isObjectType(getNamedType(type))),
  );
  if (!fields.length) return fc.constant(() => '{ __typename }');
  const one = fc.oneof(...fields.map((field) => fieldOf(field, depth)));
  return fc
    .array(one, { minLength: 1, maxLength: 3 })
    .map((all) => (variables) => `{ __typename ${all.map((write, i) => `g${i}: ${write(variables)}`).join(' ')} }`);
}

function argument(arg: GraphQLArgument): fc.Arbitrary<Writer> {
  const { name, type } = arg;
  const literal = valuesOf(type, false).map(
    (text): Writer =>
      () =>
        `${name}: ${text}`,
  );
  const others = fc.constantFrom('ID', 'Int!', '[ID!]', 'PetFilter', 'Nothing', 'Pet');
  const declared = mostly(fc.constant(String(type)), others, 30);
  const variable = fc.record({ declared, json: mostly(valuesOf(type, true), anyJson, 12) }).map(
    (each): Writer =>
      (variables) =>
        `${name}: $v${variables.push(each) - 1}`,
  );
  const given = fc.oneof(literal, variable);
  return isRequiredArgument(arg) ? mostly(given, NOTHING, 30) : mostly(NOTHING, given, 1);
}

const SCALARS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...{ ID: fitting.id, Int: fitting.integer, Boolean: fitting.boolean, DateTime: fitting.date, String: fitting.text },
};

/** Values of an input type, in JSON or GraphQL syntax. */
function valuesOf(type: GraphQLInputType, asJson: boolean): fc.Arbitrary<string> {
  const value = getNullableType(type);
  const literals = fc.constantFrom('null', '{}', '[]', '""', '$v0', 'WORD', '{a: 1}');
  const wrong = asJson
    ? anyJson
    : fc.oneof(
        literals,
        texts.map((text) => JSON.stringify(text)),
      );
  if (isListType(value)) {
    const item = valuesOf(value.ofType, asJson);
    const list = fc.array(item, { maxLength: 3 }).map((items) => `[${items.join(',')}]`);
    return mostly(list, item);
  }
  if (isEnumType(value)) {
    const names = value.getValues().map(({ name }) => (asJson ? `"${name}"` : name));
    return mostly(fc.constantFrom(...names), wrong, 12);
  }
  if (isInputObjectType(value)) {
    const fields = Object.values(value.getFields()).map((field) => ({
      ...{ name: field.name, value: valuesOf(field.type, asJson), required: isRequiredInputField(field) },
    }));
    return mostly(objectText(fields, asJson), wrong, 15);
  }
  return mostly(SCALARS[value.name] ?? fitting.text, wrong, 12);
}
