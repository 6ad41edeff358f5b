import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  parse,
} from 'graphql';
import { ruleOf } from '../../src/errors/rule-errors';
import { printedSchema } from '../../src/graphql/printed-schema';
import { buildSchema as buildProduct, type Services } from '../../src/graphql/schema';
import { printedOpenApi } from '../../src/rest/openapi/printed-openapi';

const COMMITTED = readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8');

test('docs/openapi.yaml is what the code prints (`npm run schema` writes it)', () => {
  expect(readFileSync(join(__dirname, '..', '..', 'docs', 'openapi.yaml'), 'utf8')).toBe(printedOpenApi());
});

describe('schema.graphql', () => {
  test('is what the code prints (`npm run schema` writes it)', () => {
    expect(COMMITTED).toBe(printedSchema());
  });

  test('begins with what can be asked for, and ends with the directives', () => {
    const definitions = parse(COMMITTED).definitions;
    const names = definitions.map((node) => ('name' in node ? node.name?.value : node.kind));
    expect(names.slice(0, 5)).toEqual(['SchemaDefinition', 'Query', 'Mutation', 'Subscription', 'Pet']);
    const kinds = definitions.map(({ kind }) => kind === 'DirectiveDefinition');
    expect(kinds.lastIndexOf(false)).toBe(kinds.indexOf(true) - 1);
  });

  test('describes everything in it', () => {
    expect(undescribed()).toEqual([]);
  });
});

test('every text that callers give has a length, and so no NUL, which PostgreSQL cannot store', () => {
  const unbounded = textsGiven().filter(([, text]) => ruleOf(text).maxLength === undefined);
  // Cursors and the callers of bans are parsed, and are no text afterwards.
  const isParsed = (name: string) => /\((after|before)\)$/.test(name) || name === 'Mutation.liftBan(caller)';
  expect(unbounded.map(([name]) => name).filter((name) => !isParsed(name))).toEqual([]);
  expect(unbounded.length).toBeLessThan(textsGiven().length);
});

test("every root field counts as requests, but for the caller's own", () => {
  const schema = buildSchema(COMMITTED);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((type) => Object.values(type?.getFields() ?? {}));
  const isCounted = ({ astNode }: (typeof fields)[number]) =>
    astNode?.directives?.some(({ name }) => name.value === 'rateLimit');
  expect(fields.filter((field) => !isCounted(field)).map(({ name }) => name)).toEqual(['rateLimit', 'viewer']);
});

/** The arguments and input fields that are strings. */
function textsGiven(): [name: string, text: GraphQLArgument | GraphQLInputField][] {
  const found: [string, GraphQLArgument | GraphQLInputField][] = [];
  for (const type of Object.values(buildProduct({} as Services).getTypeMap())) {
    if (isIntrospectionType(type) || !(isInputObjectType(type) || isObjectType(type))) continue;
    for (const field of Object.values(type.getFields())) {
      if ('args' in field) for (const arg of field.args) found.push([`${type.name}.${field.name}(${arg.name})`, arg]);
      else found.push([`${type.name}.${field.name}`, field]);
    }
  }
  return found.filter(([, { type }]) => getNamedType(type).name === 'String');
}

/** What has no description: types, fields, arguments, input fields, enum values, directives and their arguments. */
function undescribed(): string[] {
  const schema = buildSchema(COMMITTED);
  const found: [name: string, description?: string | null][] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || ['String', 'Int', 'Float', 'Boolean'].includes(type.name)) continue;
    found.push([type.name, type.description]);
    if (isEnumType(type)) {
      for (const { name, description } of type.getValues()) found.push([`${type.name}.${name}`, description]);
    }
    if (isInputObjectType(type) || isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        found.push([`${type.name}.${field.name}`, field.description]);
        for (const { name, description } of 'args' in field ? field.args : []) {
          found.push([`${type.name}.${field.name}(${name})`, description]);
        }
      }
    }
  }
  for (const directive of schema.getDirectives()) {
    found.push([`@${directive.name}`, directive.description]);
    for (const { name, description } of directive.args) found.push([`@${directive.name}(${name})`, description]);
  }
  return found.filter(([, description]) => !description?.trim()).map(([name]) => name);
}
