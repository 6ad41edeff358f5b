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
export interface Operation {
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
  const any = anyOperations(schema);
  return byAnyCaller(fc.oneof({ arbitrary: posts(any), weight: 12 }, { arbitrary: gets(any), weight: 2 }, NONSENSE));
}

/** Operations of all kinds, generated from the schema: most of them are valid. */
export function anyOperations(schema: GraphQLSchema): fc.Arbitrary<Operation> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const sound = fc.oneof(...roots.flatMap((root) => (root ? operations(root) : [])));
  const documents = sound.map(({ text }) => text);
  const damaged = broken(documents, SCRAPS).map((text) => ({ text, variables: '{}' }));
  return mostly(sound, damaged);
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
  /** The type, and the default value. */
  declared: string;
  /** `undefined` if the variable is not sent. */
  json: string | undefined;
}

/** Returns the text of a part of a document. Adds the variables of that part to `variables`. */
type Writer = (variables: Variable[]) => string;

const NOTHING = fc.constant<Writer>(() => '');

/** `@skip` and `@include`, with literals and variables. */
const CONDITION = fc
  .record({
    name: fc.constantFrom('skip', 'include'),
    literal: mostly(fc.constantFrom('true', 'false', undefined), fc.constantFrom('null', '"x"', '$v0', '1'), 8),
    declared: fc.constantFrom('Boolean!', 'Boolean! = true', 'Boolean = false', 'Boolean = true', 'Boolean'),
    json: mostly(fitting.boolean, fc.constantFrom(undefined, 'null', '1'), 4),
  })
  .map(({ name, literal, ...variable }): Writer => {
    return (variables) => ` @${name}(if: ${literal ?? `$v${variables.push(variable) - 1}`})`;
  });
const MAYBE_CONDITION = mostly(NOTHING, CONDITION, 6);

/** Operations with one to three root fields. Arguments are literals or variables, often with boundary values. */
function operations(root: GraphQLObjectType): fc.Arbitrary<Operation> {
  const one = fc.oneof(...Object.values(root.getFields()).map((field) => fieldOf(field, 2)));
  const name = mostly(fc.constant('one'), fc.constant(''), 3);
  const spread = mostly(fc.constant(undefined), CONDITION, 3);
  return fc.tuple(fc.array(one, { minLength: 1, maxLength: 3 }), name, spread).map(([fields, name, spread]) => {
    const given: Variable[] = [];
    const body = fields.map((write, i) => `f${i}: ${write(given)}`).join(' ');
    const selected = spread ? `...F${spread(given)}` : body;
    const declared = given.map((variable, i) => `$v${i}: ${variable.declared}`).join(', ');
    const values = given.flatMap(({ json }, i) => (json === undefined ? [] : `"v${i}":${json}`));
    const fragment = spread ? ` fragment F on ${root.name} { ${body} }` : '';
    return {
      text: `${root.name.toLowerCase()} ${name}${declared && `(${declared})`} { ${selected} }${fragment}`,
      variables: `{${values.join(',')}}`,
    };
  });
}

function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Writer> {
  const type = getNamedType(field.type);
  const inner = isObjectType(type) || isInterfaceType(type) ? selection(type, depth - 1) : NOTHING;
  const parts = fc.tuple(fc.tuple(...field.args.map(argument)), MAYBE_CONDITION, inner);
  return parts.map(([args, condition, body]) => (variables) => {
    const given = args.map((write) => write(variables)).filter(Boolean);
    const called = `${field.name}${given.length ? `(${given.join(', ')})` : ''}`;
    return `${called}${condition(variables)} ${body(variables)}`.trim();
  });
}

function selection(type: GraphQLObjectType | GraphQLInterfaceType, depth: number): fc.Arbitrary<Writer> {
  const fields = Object.values(type.getFields()).filter(
    ({ type }) => isLeafType(getNamedType(type)) || (depth > 0 && isObjectType(getNamedType(type))),
  );
  if (!fields.length) return fc.constant(() => '{ __typename }');
  const one = fc.oneof(...fields.map((field) => fieldOf(field, depth)));
  const inline = mostly(fc.constant(undefined), MAYBE_CONDITION, 4);
  return fc.tuple(fc.array(one, { minLength: 1, maxLength: 3 }), inline).map(([all, inline]) => (variables) => {
    const fields = all.map((write, i) => `g${i}: ${write(variables)}`).join(' ');
    return `{ __typename ${inline ? `... on ${type.name}${inline(variables)} { ${fields} }` : fields} }`;
  });
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
  const plain = fc.record<Variable>({ declared, json: mostly(valuesOf(type, true), anyJson, 12) });
  // A default value lets a nullable variable be used where null is not allowed.
  const withDefault = fc.record<Variable>({
    declared: valuesOf(type, false).map((value) => `${getNullableType(type)} = ${value}`),
    json: fc.oneof(fc.constantFrom(undefined, 'null'), valuesOf(type, true)),
  });
  const variable = mostly(plain, withDefault).map(
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
