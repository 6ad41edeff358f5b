import * as fc from 'fast-check';
import { buildSchema, print } from 'graphql';
import { buildSchema as buildProduct, type Services } from '../../src/graphql/schema';
import { prepare } from '../../src/rest/prepared-operation';
import type { Operation } from '../../src/rest/rest-operation';

const SCHEMA = buildSchema(`
  type Query {
    pet(id: ID!): Pet
    pets(first: Int, last: Int, after: String, filter: Filter, orderBy: OrderBy): PetConnection!
    heavy(filter: HeavyFilter): Pet
    count: Int!
    nearest(place: String!): Pet
  }
  type Mutation { createPet(input: NewPet!): Pet!  updatePet(id: ID!, input: PetUpdate!): Pet!  deletePet(id: ID!): Pet! }
  type Pet { id: ID! name: String! age: Float owner: Owner orders(first: Int): Int tags: [Tag!] }
  type Tag { id: ID! text: String owner: Owner }
  type Owner { id: ID! pet: Pet }
  type PetConnection { nodes: [Pet!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  input Filter { ids: [ID!] name: String }
  input HeavyFilter { weight: Float }
  input OrderBy { field: Field! = ID }
  enum Field { ID NAME }
  input NewPet { name: String! nick: String size: Int }
  input PetUpdate { name: String nick: String size: Int }
`);

function row(on: Operation['on'], field: Operation['field'], more: Partial<Operation> = {}): Operation {
  return { id: 'test', on, ok: 200, summary: '', field, ...more };
}

describe('an invalid row fails the start', () => {
  test.each<[string, Operation]>([
    ['test: the schema has no Query.dog', row('GET /pets', 'Query.dog')],
    ['test: no tag has /dogs', row('GET /dogs', 'Query.pets')],
    ['test: the schema has no Mutation.pet', row('GET /pets/{id}', 'Mutation.pet')],
    ['test: Int is no object type', row('GET /pets', 'Query.count')],
    ['test: Pet has no field colour', row('GET /pets/{id}', 'Query.pet', { payload: ['id', 'colour'] })],
    ['test: pets has no argument for petId', row('GET /pets/{petId}', 'Query.pets')],
    ['test: Field "pet" argument "id"', row('GET /pets', 'Query.pet')],
    ['test: Field "nearest" argument "place"', row('GET /pets', 'Query.nearest')],
    ['test: OldPet is no input type', row('POST /pets', 'Mutation.createPet', { replaces: { type: 'OldPet' } })],
    ['test: PetUpdate has no field ids', row('PUT /pets/{id}', 'Mutation.updatePet', { replaces: { type: 'Filter' } })],
    ['test: REST has no inputs of the type Float', row('GET /pets', 'Query.heavy')],
  ])('%s', (message, operation) => {
    expect(() => prepare(SCHEMA, operation)).toThrow(message);
  });
});

describe('the document of a row', () => {
  const documentOf = (operation: Operation) => print(prepare(SCHEMA, operation).document).replace(/\s+/g, ' ');

  test.each<[string, Operation]>([
    ['query test($id: ID!) { pet(id: $id) { id name age } }', row('GET /pets/{petId}', 'Query.pet')],
    [
      'query test($first: Int, $after: String, $filter: Filter, $orderBy: OrderBy) { ' +
        'pets(first: $first, after: $after, filter: $filter, orderBy: $orderBy) { ' +
        'nodes { id name age } pageInfo { hasNextPage endCursor } } }',
      row('GET /pets', 'Query.pets'),
    ],
    [
      'mutation test($id: ID!, $input: PetUpdate!) { updatePet(id: $id, input: $input) { id name age } }',
      row('PUT /pets/{petId}', 'Mutation.updatePet', { replaces: { type: 'NewPet' } }),
    ],
    [
      'mutation test($id: ID!) { deletePet(id: $id) { id } }',
      row('DELETE /pets/{petId}', 'Mutation.deletePet', { ok: 204 }),
    ],
  ])('%s', (text, operation) => {
    expect(documentOf(operation)).toBe(text);
  });
});

describe('a body that replaces an object', () => {
  test('has a value for each optional field: null unless the row says otherwise', () => {
    const replaces = { type: 'NewPet', defaults: { size: 1 } };
    const { body } = prepare(SCHEMA, row('PUT /pets/{petId}', 'Mutation.updatePet', { replaces }));
    expect(body?.defaults).toEqual({ nick: null, size: 1 });
    expect(prepare(SCHEMA, row('PATCH /pets/{petId}', 'Mutation.updatePet')).body?.defaults).toEqual({});
  });

  test('must have one for a field that cannot be null', () => {
    const replace = row('PUT /pets/{petId}', 'Mutation.updatePet', { replaces: { type: 'NewPet' } });
    expect(() => prepare(buildProduct({} as Services), replace)).toThrow('NewPet.status needs a default');
  });
});

describe('a row is derived from the schema', () => {
  const list = prepare(SCHEMA, row('GET /pets', 'Query.pets'));

  test('errors use the names of REST', () => {
    expect([...list.errorPaths]).toEqual([
      ['first', 'limit'],
      ['after', 'cursor'],
      ['orderBy', 'sort'],
      ['filter.ids', 'id'],
      ['filter.name', 'name'],
    ]);
    expect([...prepare(SCHEMA, row('PATCH /pets/{petId}', 'Mutation.updatePet')).errorPaths]).toEqual([
      ['id', 'petId'],
      ['input.name', 'name'],
      ['input.nick', 'nick'],
      ['input.size', 'size'],
    ]);
  });

  test('a list is the nodes of its page', () => {
    expect(list.payload).toMatchObject({ name: 'Pets', isPage: true });
    expect(
      list.write([
        { id: '9223372036854775807', name: 'Rex "the dog" \u2028' },
        { id: '2', name: '' },
      ]),
    ).toBe('[{"id":9223372036854775807,"name":"Rex \\"the dog\\" \u2028"},{"id":2,"name":""}]');
  });

  test('payloads are written at any depth, without nulls', () => {
    const get = prepare(SCHEMA, row('GET /pets/{id}', 'Query.pet', { payload: ['age', 'id', 'tags'] }));
    expect(get.payload).toMatchObject({ name: 'Pet', isPage: false });
    expect(
      get.write({
        age: null,
        id: '1',
        tags: [
          { id: '2', text: null },
          { id: '3', text: 'x' },
        ],
      }),
    ).toBe('{"id":1,"tags":[{"id":2},{"id":3,"text":"x"}]}');
    expect(get.write({ age: 1.5, id: '1', tags: null })).toBe('{"age":1.5,"id":1}');
  });

  test('any text is written as by JSON.stringify', () => {
    const get = prepare(SCHEMA, row('GET /pets/{id}', 'Query.pet', { payload: ['name'] }));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(get.write({ name })).toBe(JSON.stringify({ name }));
      }),
    );
    for (let code = 0; code <= 0xffff; code++) {
      const name = String.fromCharCode(code);
      if (get.write({ name }) !== JSON.stringify({ name })) throw new Error(`U+${code.toString(16)}`);
    }
  });
});
