import { parse } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { AlikeDocuments } from '../../src/graphql/alike-documents';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

/**
 * The response without the request id. With an idempotency key, the gateway parses and validates the text of the request
 * itself; queries ignore the key otherwise.
 */
async function responseTo(query: string, headers: Record<string, string> = {}): Promise<object> {
  const { status, data, errors } = await gateway.graphql(query, undefined, headers);
  const told = errors.map(({ extensions, ...error }) => ({ ...error, extensions: { ...extensions, requestId: '' } }));
  return { status, data, errors: told };
}

test.each<[what: string, first: string, others: string[]]>([
  ['ids', '{ pet(id: 1) { id name } }', ['{ pet(id: 2) { id name } }', '{ pet(id: 9223372036854775807) { id name } }']],
  ['ids as texts', '{ pet(id: "1") { id } }', ['{ pet(id: "2") { id } }', '{pet(id:"99999"){id}}']],
  ['wrong ids', '{ pet(id: "1") { id } }', ['{ pet(id: "abcdefghijkl") { id } }', '{ pet(id: "x y") { id } }']],
  [
    'lists',
    '{ pets(filter: { ids: [1, 2] }) { nodes { id } } }',
    ['{ pets(filter: { ids: [3, 4] }) { nodes { id } } }'],
  ],
  [
    'a single value for a list',
    '{ pets(filter: { ids: 1 }) { nodes { id } } }',
    ['{ pets(filter: { ids: 2 }) { nodes { id } } }'],
  ],
  [
    'texts',
    '{ pets(filter: { name: "a" }) { totalCount } }',
    ['{ pets(filter: { name: "\\u00e9\\"\\n" }) { totalCount } }', '{ pets(filter: { name: "🐕" }) { totalCount } }'],
  ],
  [
    'block texts',
    '{ pets(filter: { name: """a""" }) { totalCount } }',
    ['{ pets(filter: { name: """  b\n  """ }) { totalCount } }'],
  ],
  [
    'page sizes, including invalid ones, whose errors have the location in the sent text',
    '{ pets(first: 1) { nodes { id orders(first: 1) { nodes { id } } } } a: pets(first: 2) { nodes { id } } }',
    [
      '{ pets(first: 100) { nodes { id orders(first: 50) { nodes { id } } } } a: pets(first: 1000) { nodes { id } } }',
      '{ pets(first: 10000) {\n nodes { id orders(first: -1) { nodes { id } } } }\n a: pets(first: 0) { nodes { id } } }',
      '{ pets(first: 99999999999) { nodes { id orders(first: 1) { nodes { id } } } } a: pets(first: 2) { nodes { id } } }',
    ],
  ],
  [
    'an enum value named like a token',
    '{ pets(first: 1) { nodes { id } } }',
    ['{ pets(first: Int) { nodes { id } } }'],
  ],
  [
    'fragments',
    '{ ...F } fragment F on Query { pet(id: 1) { id } }',
    ['{ ...F } fragment F on Query { pet(id: 3) { id } }'],
  ],
  ['conditions', '{ pet(id: 1) { id name @skip(if: true) } }', ['{ pet(id: 2) { id name @skip(if: false) } }']],
  ['introspection', '{ __type(name: "Pet") { name } }', ['{ __type(name: "Order") { name fields { name } } }']],
])('documents that differ only in %s get the same responses as when validated alone', async (_what, first, others) => {
  await responseTo(first);
  for (const other of others)
    expect(await responseTo(other)).toEqual(await responseTo(other, { 'idempotency-key': 'alone' }));
});

test('a document that differs only in literals is replaced by a known document with variables', () => {
  const documents = new AlikeDocuments(contractSchema(), 5000);
  const known = '{ pets(first: 5, filter: { ids: ["1", 2], name: "Rex" }) { nodes { id } } }';
  documents.add(parse(known));
  const alike = documents.find('{ pets(first:7,filter:{ids:["9007199254740993",4],name:"Tom"}){nodes{id}} }');
  expect(alike?.variables).toEqual({
    __literal0: 7,
    __literal1: '9007199254740993',
    __literal2: '4',
    __literal3: 'Tom',
  });
  expect(alike?.query).toContain('$__literal0: Int, $__literal1: ID!, $__literal2: ID!, $__literal3: String');
  for (const other of [
    '{ pets(first: 5) { nodes { id } } }',
    '{ a',
    '{ pets(first: 1.5, filter: { ids: ["1", 2], name: "R" }) { nodes { id } } }',
  ])
    expect(documents.find(other)).toBeUndefined();
});

test('a document runs unchanged if variables in place of its literals would exceed the limit on tokens', async () => {
  const page = (n: number) => (_: unknown, i: number) =>
    `p${i}: pets(first: 1, filter: { ids: [${Array.from({ length: 25 }, (_, j) => n + j)}] }) { nodes { id } }`;
  for (const n of [1, 2, 3]) {
    const query = `{ ${Array.from({ length: 40 }, page(n)).join(' ')} }`;
    expect(await responseTo(query)).toMatchObject({ status: 200, data: { p39: { nodes: expect.any(Array) } } });
  }
});
