import * as fc from 'fast-check';
import { buildSchema } from 'graphql';
import type { Operation } from '../../src/rest/operation';
import { prepare } from '../../src/rest/prepare';

const SCHEMA = buildSchema(`
  type Query { pet(id: ID!): Pet pets(first: Int, filter: Filter): Pets! }
  type Mutation { createPet(input: NewPet!): Pet! }
  type Pet { id: ID! name: String! tags: [Tag!] age: Float }
  type Tag { id: ID! text: String }
  type Pets { nodes: [Pet!]! }
  input Filter { ids: [ID!] weight: Float }
  input NewPet { name: String! }
`);

function row(on: Operation['on'], document: string, more: Partial<Operation> = {}): Operation {
  return { id: 'test', on, ok: [200, 'Pet'], tag: 'Pets', summary: '', description: '', document, ...more };
}

describe('an invalid row fails the start', () => {
  test.each<[string, Operation]>([
    ['Syntax Error', row('GET /pets/{id}', 'query ($id: ID!) { pet(id: $id) {')],
    [
      'test: Cannot query field "colour"',
      row('GET /pets/{id}', 'query ($id: ID!) { pet(id: $id) { colour } }'),
    ],
    ['test: Variable "$id" of type', row('GET /pets/{id}', 'query ($id: String!) { pet(id: $id) { id } }')],
    ['do not fit its path', row('GET /pets/{petId}', 'query ($id: ID!) { pet(id: $id) { id } }')],
    [
      'do not fit its path or body',
      row('POST /pets', 'mutation ($name: String!) { createPet(input: { name: $name }) { id } }'),
    ],
    [
      'no inputs of the type Float',
      row('GET /pets', 'query ($weight: Float) { pets(filter: { weight: $weight }) { nodes { id } } }'),
    ],
  ])('%s', (message, operation) => {
    expect(() => prepare(SCHEMA, operation)).toThrow(message);
  });
});

describe('a row is derived from its document', () => {
  const list = prepare(
    SCHEMA,
    row(
      'GET /pets',
      'query ($limit: Int, $id: [ID!]) { pets(first: $limit, filter: { ids: $id }) { nodes { id name } } }',
    ),
  );

  test('errors use the names of REST', () => {
    expect([...list.errorPaths]).toEqual([
      ['first', 'limit'],
      ['filter.ids', 'id'],
    ]);
  });

  test('a list is the nodes of its page', () => {
    expect(list.isPage).toBe(true);
    expect(
      list.write([
        { id: '9223372036854775807', name: 'Rex "the dog" \u2028' },
        { id: '2', name: '' },
      ]),
    ).toBe('[{"id":9223372036854775807,"name":"Rex \\"the dog\\" \u2028"},{"id":2,"name":""}]');
  });

  test('payloads are written at any depth, without nulls', () => {
    const get = prepare(
      SCHEMA,
      row('GET /pets/{id}', 'query ($id: ID!) { pet(id: $id) { age id tags { id text } } }'),
    );
    expect(get.isPage).toBe(false);
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
    const get = prepare(SCHEMA, row('GET /pets/{id}', 'query ($id: ID!) { pet(id: $id) { name } }'));
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
