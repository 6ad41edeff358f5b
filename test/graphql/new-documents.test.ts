import type { FormattedExecutionResult } from 'graphql';
import { Documents } from '../../src/graphql/documents';
import { Executor } from '../../src/graphql/executor';
import { ADMIN_KEY, type Gateway } from '../helper/gateway';
import { socketClient, streamClient } from '../helper/live';
import { fillToys, startToys } from '../toys/gateway';

// Clients that write values into their documents send a new document with each request. The response to a document depends
// on this document alone, not on the documents that the gateway received before.

let gateway: Gateway;
let url: string;
let others: Record<string, string>;
beforeAll(async () => {
  gateway = await startToys();
  await fillToys(gateway.database);
  url = await gateway.listen();
  others = (await gateway.createKey({ scopes: ['READ', 'WRITE'], plan: 'PRO' })).headers;
});
afterAll(() => gateway.close());

type Send = (query: string, headers: Record<string, string>) => Promise<unknown>;

const transports: Record<string, Send> = {
  POST: async (query, headers) =>
    (await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload: { query } })).json(),
  GET: async (query, headers) => {
    const { json } = await gateway.app.inject({ url: `/graphql?query=${encodeURIComponent(query)}`, headers });
    return json();
  },
  WebSocket: async (query, headers) => {
    const client = socketClient(url, {}, headers);
    const { answers, error } = await client.subscribe(query).untilOver();
    client.close();
    return answers[0] ?? { errors: error };
  },
  'event stream': async (query, headers) => {
    const client = streamClient(url, headers);
    const { answers, error } = await client.subscribe(query).untilOver();
    client.close();
    return answers[0] ?? { errors: error };
  },
};

/** The response without the parts that differ between requests. */
async function responseOver(
  transport: string,
  query: string,
  headers: Record<string, string> = { 'x-api-key': ADMIN_KEY },
) {
  const send = transports[transport] as Send;
  const { data, errors } = (await send(query, headers)) as FormattedExecutionResult;
  const told = errors?.map(({ message, locations, path }) => ({ message, locations, path }));
  return { data, errors: told };
}

const VALID: [what: string, first: string, second: string, data: object][] = [
  [
    'ids',
    '{ a: toy(id: 1) { id } a: toy(id: 1) { name } }',
    '{a:toy(id:1){id}a:toy(id:1){name}}',
    { a: { id: '1', name: 'Train' } },
  ],
  [
    'strings',
    '{ a: toys(filter: { name: "Ball" }) { totalCount } a: toys(filter: { name: "Ball" }) { nodes { id } } }',
    '{a:toys(filter:{name:"Doll"}){totalCount}a:toys(filter:{name:"Doll"}){nodes{id}}}',
    { a: { totalCount: 1, nodes: [{ id: '3' }] } },
  ],
  [
    'block strings',
    '{ a: toys(filter: { name: """Ball""" }) { totalCount } a: toys(filter: { name: """Ball""" }) { nodes { id } } }',
    '{a:toys(filter:{name:"""\n  Doll\n"""}){totalCount}a:toys(filter:{name:"""Doll"""}){nodes{id}}}',
    { a: { totalCount: 1, nodes: [{ id: '3' }] } },
  ],
  [
    'strings that are names of enum values',
    '{ a: toys(filter: { name: "NAME" }, orderBy: { field: NAME }) { totalCount } a: toys(filter: { name: "NAME" }, orderBy: { field: NAME }) { nodes { id } } }',
    '{a:toys(filter:{name:"ID"},orderBy:{field:NAME}){totalCount}a:toys(filter:{name:"ID"},orderBy:{field:NAME}){nodes{id}}}',
    { a: { totalCount: 0, nodes: [] } },
  ],
  [
    'lists',
    '{ a: toys(filter: { ids: [1, "2"] }) { totalCount } a: toys(filter: { ids: [1, "2"] }) { nodes { id } } }',
    '{a:toys(filter:{ids:[2,"3"]}){totalCount}a:toys(filter:{ids:[2,"3"]}){nodes{id}}}',
    { a: { totalCount: 2, nodes: [{ id: '2' }, { id: '3' }] } },
  ],
  [
    'page sizes of nested pages',
    '{ boxes(first: 1) { nodes { toys(first: 1) { totalCount } toys(first: 1) { nodes { id } } } } }',
    '{boxes(first:2){nodes{toys(first:1){totalCount}toys(first:1){nodes{id}}}}}',
    {
      boxes: {
        nodes: [{ toys: { totalCount: 2, nodes: [{ id: '1' }] } }, { toys: { totalCount: 1, nodes: [{ id: '3' }] } }],
      },
    },
  ],
  [
    'ids beside directives',
    '{ a: toy(id: 1) @include(if: true) { id } a: toy(id: 1) @skip(if: false) { name } }',
    '{a:toy(id:2)@include(if:true){id}a:toy(id:2)@skip(if:false){name}}',
    { a: { id: '2', name: 'Ball' } },
  ],
  [
    'ids in a fragment',
    '{ ...F a: toy(id: 1) { id } } fragment F on Query { a: toy(id: 1) { name } }',
    '{...F a:toy(id:2){id}}fragment F on Query{a:toy(id:2){name}}',
    { a: { id: '2', name: 'Ball' } },
  ],
];

describe.each(Object.keys(transports))('after another caller sent a document over %s,', (before) => {
  test.each(VALID)(
    'a document that repeats %s in merged fields is valid on all transports',
    async (_what, first, second, data) => {
      expect((await responseOver(before, first, others)).errors).toBeUndefined();
      for (const transport of Object.keys(transports))
        expect([transport, await responseOver(transport, second)]).toEqual([transport, { data, errors: undefined }]);
    },
  );
});

test('a mutation that repeats values in merged fields is valid after another caller sent a similar mutation', async () => {
  const renamed = (name: string) =>
    `mutation { a: updateToy(id: 1, input: { name: "${name}" }) { id } a: updateToy(id: 1, input: { name: "${name}" }) { name } }`;
  await responseOver('POST', renamed('Tram'), others);
  expect(await responseOver('POST', renamed('Train'))).toEqual({ data: { a: { id: '1', name: 'Train' } } });
});

describe('a document is checked with its own values, although the same document with other values was valid:', () => {
  test.each<[what: string, first: string, second: string, message: RegExp, location: object]>([
    [
      'different ids in merged fields',
      '{ b: toy(id: 1) { id } b: toy(id: 1) { name } }',
      '{\n  b: toy(id: 1) { id }\n  b: toy(id: 2) { name }\n}',
      /^Fields "b" conflict because they have differing arguments/,
      { line: 2, column: 3 },
    ],
    [
      'an id that is no number',
      '{ toy(id: "1") { id } }',
      '{\n  toy(id: "one") { id }\n}',
      /^id: must be an integer/,
      { line: 2, column: 11 },
    ],
    [
      'a number for a list of ids',
      '{ toys(filter: { ids: [1, 2] }) { totalCount } }',
      '{\n  toys(filter: { ids: [1, 2.5] }) { totalCount }\n}',
      /^filter\.ids\.1: must be an integer/,
      { line: 2, column: 27 },
    ],
    [
      'an integer that is too large',
      '{ toys(first: 1) { totalCount } }',
      '{\n  toys(first: 99999999999) { totalCount }\n}',
      /99999999999/,
      { line: 2, column: 15 },
    ],
    [
      'an enum value instead of a string',
      '{ toys(filter: { name: "NAME" }) { totalCount } }',
      '{\n  toys(filter: { name: NAME }) { totalCount }\n}',
      /String cannot represent a non string value: NAME/,
      { line: 2, column: 24 },
    ],
    [
      'a page size that is out of bounds',
      '{ toys(first: 1) { nodes { id } } }',
      '{\n  toys(first: 0) { nodes { id } }\n}',
      /first/,
      { line: 2, column: 3 },
    ],
  ])('%s', async (_what, first, second, message, location) => {
    expect((await responseOver('POST', first, others)).errors).toBeUndefined();
    for (const transport of ['POST', 'GET', 'WebSocket']) {
      const { errors } = await responseOver(transport, second);
      expect([transport, errors]).toEqual([
        transport,
        [expect.objectContaining({ message: expect.stringMatching(message) })],
      ]);
      expect([transport, errors?.[0]?.locations?.[0]]).toEqual([transport, location]);
    }
  });
});

describe.each(Object.keys(transports))('the operation of a new document over %s', (transport) => {
  test.each([
    ['in the same iteration of the event loop', 100, 0],
    ['in a later iteration if the document is large', 5_000, 1],
  ])('runs %s', async (_when, length, later) => {
    let iteration = 0;
    let counting = setImmediate(function count() {
      iteration++;
      counting = setImmediate(count);
    });
    const inIteration: number[] = [];
    const { validateAndAdd } = Documents.prototype;
    const { run } = Executor.prototype;
    jest.spyOn(Documents.prototype, 'validateAndAdd').mockImplementationOnce(function (this: Documents, ...args) {
      inIteration.push(iteration);
      return validateAndAdd.apply(this, args);
    });
    jest.spyOn(Executor.prototype, 'run').mockImplementationOnce(function (this: Executor, ...args) {
      inIteration.push(iteration);
      return run.apply(this, args);
    });
    const alias = `a${transport.replace(' ', '')}${'x'.repeat(length)}`;
    const { data } = await responseOver(transport, `{ ${alias}: toy(id: 1) { name } }`);
    clearImmediate(counting);
    expect(data).toEqual({ [alias]: { name: 'Train' } });
    const [read = Number.NaN, ran = Number.NaN] = inIteration;
    expect(Math.min(ran - read, 1)).toBe(later);
  });
});
