import { buildSchema, type GraphQLSchema } from 'graphql';
import { contractSchema, REST } from '../../src/app/contract';
import { prepareAll } from '../../src/rest/prepared-operation';
import type { Operation, RestApi } from '../../src/rest/rest-operation';

const SCHEMA = buildSchema(`
  type Query { pet(id: ID!): Pet  pets(first: Int): Pet  heavy(filter: Filter): Pet  count: Int!  nearest(place: String!): Pet }
  type Mutation { createPet(input: NewPet!): Pet!  updatePet(id: ID!, input: PetUpdate!): Pet! }
  type Pet { id: ID! name: String! }
  input Filter { weight: Float }
  input NewPet { name: String! }
  input PetUpdate { name: String }
`);
const prepare = (schema: GraphQLSchema, operation: Operation) =>
  prepareAll(schema, { tags: REST.tags, operations: [operation] } as unknown as RestApi);
const replaces = (type: string) => ({ replaces: { type } });

test.each<[fault: string, on: Operation['on'], field: Operation['field'], more: Partial<Operation>]>([
  ['the schema has no Query.dog', 'GET /pets', 'Query.dog', {}],
  ['no tag has /dogs', 'GET /dogs', 'Query.pets', {}],
  ['Int is no object type', 'GET /pets', 'Query.count', {}],
  ['Pet has no field colour', 'GET /pets/{id}', 'Query.pet', { payload: ['id', 'colour'] }],
  ['pets has no argument for petId', 'GET /pets/{petId}', 'Query.pets', {}],
  ['Field "pet" argument "id"', 'GET /pets', 'Query.pet', {}],
  ['Field "nearest" argument "place"', 'GET /pets', 'Query.nearest', {}],
  ['REST has no inputs of the type Float', 'GET /pets', 'Query.heavy', {}],
  ['OldPet is no input type', 'POST /pets', 'Mutation.createPet', replaces('OldPet')],
  ['PetUpdate has no field weight', 'PUT /pets/{id}', 'Mutation.updatePet', replaces('Filter')],
])('a row that does not fit the schema stops the start: %s', (fault, on, field, more) => {
  expect(() => prepare(SCHEMA, { id: 'test', on, ok: 200, summary: '', field, ...more })).toThrow(`test: ${fault}`);
});

test('a replacement without a value for a field that cannot be null stops the start', () => {
  const row: Operation = { id: 'test', on: 'PUT /pets/{petId}', ok: 200, summary: '', field: 'Mutation.updatePet' };
  const product = contractSchema();
  expect(() => prepare(product, { ...row, ...replaces('NewPet') })).toThrow('NewPet.status needs a default');
});
