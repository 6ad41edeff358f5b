import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DirectiveNode,
  type GraphQLArgument,
  type GraphQLInputField,
  getNamedType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  Kind,
  parse,
  visit,
} from 'graphql';
import { contractSchema, printedOpenApi, printedSchema } from '../../src/app/contract';
import { ruleOf } from '../../src/errors/input-checks';
import { buildSchema as buildFromResolvers, type SchemaParts } from '../../src/graphql/schema';
import { toyDomains } from '../toys/toys';

const PROJECT = join(__dirname, '..', '..');
const COMMITTED = readFileSync(join(PROJECT, 'schema.graphql'), 'utf8');
const DOCUMENT = parse(COMMITTED);

describe('the committed file is what `npm run schema` writes:', () => {
  test('docs/openapi.yaml', () => {
    expect(readFileSync(join(PROJECT, 'docs', 'openapi.yaml'), 'utf8')).toBe(printedOpenApi());
  });

  test('schema.graphql', () => {
    expect(COMMITTED).toBe(printedSchema());
  });
});

test('schema.graphql begins with the root types, and ends with the directives', () => {
  const names = DOCUMENT.definitions.map((node) => ('name' in node ? node.name?.value : node.kind));
  expect(names.slice(0, 5)).toEqual(['SchemaDefinition', 'Query', 'Mutation', 'Subscription', 'Pet']);
  const isDirective = DOCUMENT.definitions.map(({ kind }) => kind === Kind.DIRECTIVE_DEFINITION);
  expect(isDirective.lastIndexOf(false)).toBe(isDirective.indexOf(true) - 1);
});

test('root fields are in the order of the resolvers and their methods, and arguments in the order of the parameters', () => {
  const parts: SchemaParts = { ...toyDomains(), subscribe: jest.fn() };
  const rootFields = (resolvers: SchemaParts['resolvers']) =>
    Object.keys(
      buildFromResolvers({ ...parts, resolvers })
        .getQueryType()
        ?.getFields() ?? {},
    );
  const inOrder = rootFields(parts.resolvers);
  expect(inOrder.slice(0, 4)).toEqual(['toy', 'toys', 'rateLimit', 'viewer']);
  const reversed = rootFields(parts.resolvers.toReversed());
  expect(reversed.slice(-4)).toEqual(['rateLimit', 'viewer', 'toy', 'toys']);
  expect(reversed.toSorted()).toEqual(inOrder.toSorted());
  const update = buildFromResolvers(parts).getMutationType()?.getFields().updateToy;
  expect(update?.args.map(({ name }) => name)).toEqual(['id', 'input']);
});

test('every type, field, argument, enum value and directive has a description', () => {
  const undescribed: string[] = [];
  let described = 0;
  visit(DOCUMENT, {
    enter(node) {
      if (!/Definition$/.test(node.kind) || node.kind === Kind.SCHEMA_DEFINITION || !('name' in node)) return;
      if ('description' in node && node.description?.value.trim()) described++;
      else undescribed.push(`${node.kind} ${node.name?.value}`);
    },
  });
  expect(undescribed).toEqual([]);
  expect(described).toBeGreaterThan(300);
});

test('every text argument has a maximum length; the length check also rejects NUL characters', () => {
  const inputs: { name: string; given: GraphQLArgument | GraphQLInputField }[] = [];
  for (const type of Object.values(contractSchema().getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    if (isInputObjectType(type))
      for (const given of Object.values(type.getFields())) inputs.push({ name: `${type.name}.${given.name}`, given });
    if (isObjectType(type))
      for (const field of Object.values(type.getFields()))
        for (const given of field.args) inputs.push({ name: `${type.name}.${field.name}(${given.name})`, given });
  }
  const strings = inputs.filter(({ given }) => getNamedType(given.type).name === 'String');
  const unbounded = strings.filter(({ given }) => ruleOf(given).maxLength === undefined).map(({ name }) => name);
  // Cursors and the `caller` of a ban are parsed, and versions are compared, so their texts never reach the database.
  const isParsed = (name: string) => /\((after|before|ifVersion)\)$/.test(name) || name === 'Mutation.liftBan(caller)';
  expect(unbounded.filter((name) => !isParsed(name))).toEqual([]);
  expect(unbounded.length).toBeLessThan(strings.length);
});

test('every root field uses quota, except rateLimit and viewer, which describe the caller', () => {
  const schema = buildSchema(COMMITTED);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const isRateLimit = ({ name }: DirectiveNode) => name.value === 'rateLimit';
  const free = roots
    .flatMap((type) => Object.values(type?.getFields() ?? {}))
    .filter(({ astNode }) => !astNode?.directives?.some(isRateLimit));
  expect(free.map(({ name }) => name)).toEqual(['rateLimit', 'viewer']);
});
