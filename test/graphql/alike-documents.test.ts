import { parse } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { AlikeDocuments } from '../../src/graphql/alike-documents';
import type { Gateway } from '../helper/gateway';
import { fillToys, startToys } from '../toys/gateway';
import { toyDomains } from '../toys/toys';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys();
  await fillToys(gateway.database);
});
afterAll(() => gateway.close());

/**
 * The response without the request id. With an idempotency key in `headers`, the gateway always parses and validates the
 * sent text. The key has no other effect on queries.
 */
async function responseTo(query: string, headers: Record<string, string> = {}): Promise<object> {
  const { status, data, errors } = await gateway.graphql(query, undefined, headers);
  const told = errors.map(({ extensions, ...error }) => ({ ...error, extensions: { ...extensions, requestId: '' } }));
  return { status, data, errors: told };
}

test.each<[what: string, first: string, others: string[]]>([
  ['ids', '{ toy(id: 1) { id name } }', ['{ toy(id: 2) { id name } }', '{ toy(id: 9223372036854775807) { id name } }']],
  ['ids as texts', '{ toy(id: "1") { id } }', ['{ toy(id: "2") { id } }', '{toy(id:"99999"){id}}']],
  ['wrong ids', '{ toy(id: "1") { id } }', ['{ toy(id: "abcdefghijkl") { id } }', '{ toy(id: "x y") { id } }']],
  [
    'lists',
    '{ toys(filter: { ids: [1, 2] }) { nodes { id } } }',
    ['{ toys(filter: { ids: [3, 4] }) { nodes { id } } }'],
  ],
  [
    'a single value for a list',
    '{ toys(filter: { ids: 1 }) { nodes { id } } }',
    ['{ toys(filter: { ids: 2 }) { nodes { id } } }'],
  ],
  [
    'texts',
    '{ toys(filter: { name: "a" }) { totalCount } }',
    ['{ toys(filter: { name: "\\u00e9\\"\\n" }) { totalCount } }', '{ toys(filter: { name: "🪀" }) { totalCount } }'],
  ],
  [
    'block texts',
    '{ toys(filter: { name: """a""" }) { totalCount } }',
    ['{ toys(filter: { name: """  b\n  """ }) { totalCount } }'],
  ],
  // The errors of invalid page sizes have their locations in the sent text.
  [
    'valid and invalid page sizes',
    '{ boxes(first: 1) { nodes { id toys(first: 1) { nodes { id } } } } a: toys(first: 2) { nodes { id } } }',
    [
      '{ boxes(first: 100) { nodes { id toys(first: 50) { nodes { id } } } } a: toys(first: 1000) { nodes { id } } }',
      '{ boxes(first: 10000) {\n nodes { id toys(first: -1) { nodes { id } } } }\n a: toys(first: 0) { nodes { id } } }',
      '{ boxes(first: 99999999999) { nodes { id toys(first: 1) { nodes { id } } } } a: toys(first: 2) { nodes { id } } }',
    ],
  ],
  [
    'an enum value named like a token',
    '{ toys(first: 1) { nodes { id } } }',
    ['{ toys(first: Int) { nodes { id } } }'],
  ],
  [
    'fragments',
    '{ ...F } fragment F on Query { toy(id: 1) { id } }',
    ['{ ...F } fragment F on Query { toy(id: 3) { id } }'],
  ],
  ['conditions', '{ toy(id: 1) { id name @skip(if: true) } }', ['{ toy(id: 2) { id name @skip(if: false) } }']],
  ['introspection', '{ __type(name: "Toy") { name } }', ['{ __type(name: "Box") { name fields { name } } }']],
])('documents that differ only in %s get the same responses as when validated alone', async (_what, first, others) => {
  await responseTo(first);
  for (const other of others)
    expect(await responseTo(other)).toEqual(await responseTo(other, { 'idempotency-key': 'alone' }));
});

test('for a document that differs from a known document only in literals, the known document runs, with the literals as variables', () => {
  const documents = new AlikeDocuments(contractSchema(toyDomains()), 5000);
  const known = '{ toys(first: 5, filter: { ids: ["1", 2], name: "Train" }) { nodes { id } } }';
  documents.add(parse(known));
  const alike = documents.find('{ toys(first:7,filter:{ids:["9007199254740993",4],name:"Doll"}){nodes{id}} }');
  expect(alike?.variables).toEqual({
    __literal0: 7,
    __literal1: '9007199254740993',
    __literal2: '4',
    __literal3: 'Doll',
  });
  expect(alike?.query).toContain('$__literal0: Int, $__literal1: ID!, $__literal2: ID!, $__literal3: String');
  for (const other of [
    '{ toys(first: 5) { nodes { id } } }',
    '{ a',
    '{ toys(first: 1.5, filter: { ids: ["1", 2], name: "R" }) { nodes { id } } }',
  ])
    expect(documents.find(other)).toBeUndefined();
});

test('a document runs unchanged if variables in place of its literals would exceed the limit on tokens', async () => {
  const page = (n: number) => (_: unknown, i: number) =>
    `p${i}: toys(first: 1, filter: { ids: [${Array.from({ length: 25 }, (_, j) => n + j)}] }) { nodes { id } }`;
  for (const n of [1, 2, 3]) {
    const query = `{ ${Array.from({ length: 40 }, page(n)).join(' ')} }`;
    expect(await responseTo(query)).toMatchObject({ status: 200, data: { p39: { nodes: expect.any(Array) } } });
  }
});
