import {
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import type { Rule } from '../../src/errors/input-rules';
import { schemasOf } from '../../src/rest/openapi/schemas';
import { prepare } from '../../src/rest/prepared-operation';
import type { Operation } from '../../src/rest/rest-operation';

const NAME: Rule = { trimmed: true, minLength: 1, maxLength: 20 };
const AGE: Rule = { minimum: 0, maximum: 40 };
const required = <T extends GraphQLFieldConfig<unknown, unknown> | GraphQLInputFieldConfig>(field: T): T => ({
  ...field,
  type: new GraphQLNonNull(field.type),
});
const name = { type: GraphQLString, description: 'Its name.', extensions: { rule: NAME } };
const age = { type: GraphQLInt, extensions: { rule: AGE } };
const Size = new GraphQLEnumType({
  name: 'Size',
  description: 'How large.',
  values: { small: {}, large: {} },
});
const kept = (rule: Rule) => ({ extensions: { rule: { ...rule, nullable: false as const } } });

/** A pet with the fields of `more` beside its own. */
function schemasWith(more: Record<string, GraphQLFieldConfig<unknown, unknown>>, extensions = {}) {
  const Owner = new GraphQLObjectType({ name: 'Owner', fields: { id: { type: GraphQLID } } });
  const Pet = new GraphQLObjectType({
    name: 'Pet',
    description: 'A pet.',
    extensions,
    fields: {
      id: required({ type: GraphQLID }),
      name: required({ ...name, extensions: { ...name.extensions, jsonSchema: { example: 'Rex' } } }),
      age,
      owner: { type: Owner },
      ...more,
    },
  });
  const NewPet = new GraphQLInputObjectType({ name: 'NewPet', fields: { name: required(name), age } });
  const PetUpdate = new GraphQLInputObjectType({
    name: 'PetUpdate',
    fields: { name: { ...name, ...kept(NAME) }, age },
  });
  const Page = new GraphQLObjectType({
    name: 'PageInfo',
    fields: { hasNextPage: { type: GraphQLInt }, endCursor: { type: GraphQLString } },
  });
  const Pets = new GraphQLObjectType({
    name: 'PetConnection',
    fields: { nodes: { type: new GraphQLList(Pet) }, pageInfo: { type: Page } },
  });
  const input = (type: GraphQLInputObjectType) => ({ type: new GraphQLNonNull(type) });
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { pets: { type: Pets } } }),
    mutation: new GraphQLObjectType({
      name: 'Mutation',
      fields: {
        createPet: { type: Pet, args: { input: input(NewPet) } },
        updatePet: { type: Pet, args: { id: { type: GraphQLID }, input: input(PetUpdate) } },
      },
    }),
  });
  const row = (on: Operation['on'], field: Operation['field']): Operation => ({
    id: 'x',
    on,
    ok: 200,
    field,
    summary: '',
  });
  const rows = [
    row('GET /pets', 'Query.pets'),
    row('POST /pets', 'Mutation.createPet'),
    row('PATCH /pets/{petId}', 'Mutation.updatePet'),
  ];
  return schemasOf(rows.map((each) => prepare(schema, each)));
}

const BOUNDS = { type: 'string', minLength: 1, maxLength: 20, pattern: '\\S' };

test('a payload has the values of its type, with their bounds, descriptions and examples', () => {
  const { Pet } = schemasWith({});
  expect(Object.keys(Pet?.properties ?? {})).toEqual(['id', 'name', 'age']);
  expect(Pet).toMatchObject({
    description: 'A pet.',
    required: ['id', 'name'],
    properties: {
      id: { type: 'integer', format: 'int64', minimum: 1 },
      name: { ...BOUNDS, description: 'Its name.', example: 'Rex' },
      age: { type: 'integer', format: 'int32', minimum: 0, maximum: 40 },
    },
  });
});

test('a new field is in payloads and examples, and brings its enum', () => {
  const { Pet, Size: size, Pets } = schemasWith({ size: required({ type: Size }) });
  expect(Pet?.required).toEqual(['id', 'name', 'size']);
  expect(Pet?.properties?.size).toEqual({ $ref: '#/components/schemas/Size' });
  expect(size).toMatchObject({ type: 'string', enum: ['small', 'large'], description: 'How large.' });
  expect(Pets).toMatchObject({ type: 'array', maxItems: 100, items: { $ref: '#/components/schemas/Pet' } });
  expect(Pets?.example).toEqual([expect.objectContaining({ id: 1, name: 'Rex', size: 'small' })]);
});

test('bodies are closed, and null has a place only in a patch, where the rule allows it', () => {
  const { NewPet, PetUpdate } = schemasWith({});
  expect(NewPet).toMatchObject({ required: ['name'], additionalProperties: false });
  expect(NewPet?.properties).toEqual({
    name: { ...BOUNDS, description: 'Its name.', example: 'Rex' },
    age: expect.not.objectContaining({ nullable: true }),
  });
  expect(PetUpdate).toMatchObject({ additionalProperties: false });
  expect(PetUpdate?.required).toBeUndefined();
  expect(PetUpdate?.properties?.name).toEqual(NewPet?.properties?.name);
  expect(PetUpdate?.properties?.age).toMatchObject({ nullable: true, maximum: 40 });
});

test('a type may require less than it always has, and have an example of its own', () => {
  const example = { id: 7, name: 'Mia' };
  const { Pet } = schemasWith({}, { jsonSchema: { required: ['id'], example } });
  expect(Pet?.description).toMatch(/\. Always there: `id`, `name`\.$/);
  expect(Pet).toMatchObject({ required: ['id'], example, properties: { name: { example: 'Mia' } } });
});
