import type { Gateway } from '../helper/gateway';
import { fillToys, startToys } from '../toys/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys();
});
afterAll(() => gateway.close());

describe('an error', () => {
  beforeAll(() => fillToys(gateway.database));

  test('in one field has a path, a location and the request id; the status is 200, and other fields have data', async () => {
    const query = '{ box(id: 1) { name wrong: toys(first: 0) { totalCount } } other: box(id: 2) { name } }';
    const { status, data, errors } = await gateway.graphql(query, {}, { 'x-request-id': 'abc-1' });
    expect([status, data]).toEqual([200, { box: null, other: { name: 'Dolls' } }]);
    const extensions = { code: 'BAD_USER_INPUT', status: 400, requestId: 'abc-1' };
    expect(errors).toMatchObject([{ path: ['box', 'wrong'], locations: [{ line: 1, column: 21 }], extensions }]);
  });

  test('is reported for a query that times out in the database, and the query is not retried', async () => {
    const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    const query = jest.spyOn(gateway.database, 'query').mockRejectedValue(timeout);
    const { errors } = await gateway.graphql('{ toys { nodes { id } } }');
    const sent = query.mock.calls.length;
    query.mockRestore();
    expect(errors).toMatchObject([{ path: ['toys'], extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
    expect(sent).toBe(1);
  });

  test('in a root field that is not nullable has status 200 and null data', async () => {
    const { status, data, errors } = await gateway.graphql('{ toys(first: 0) { totalCount } }');
    expect([status, data]).toEqual([200, null]);
    expect(errors).toMatchObject([{ path: ['toys'], locations: [{ line: 1, column: 3 }] }]);
  });
});

describe('a mutation', () => {
  beforeEach(() => fillToys(gateway.database));
  const added = async () => {
    const { boxes } = await gateway.data<{ boxes: { nodes: { name: string }[] } }>('{ boxes { nodes { name } } }');
    return boxes.nodes.slice(2).map(({ name }) => name);
  };
  const codes = (errors: readonly { path?: readonly unknown[]; extensions?: Record<string, unknown> }[]) =>
    errors.map(({ path, extensions }) => [path?.join('.'), extensions?.code]);

  test('runs its fields in order, each in a separate transaction; a failed field does not undo or stop other fields', async () => {
    const { status, data, errors } = await gateway.graphql(`mutation {
      a: createBox(input: { name: "A" }) { name toys { totalCount } }
      b: updateToy(id: 3, input: { broken: true }) { id }
      c: updateToy(id: 3, input: { name: "C" }) { id }
      d: createBox(input: { name: " " }) { name }
      e: createBox(input: { name: "E" }) { name }
    }`);
    const all = { a: { name: 'A', toys: { totalCount: 0 } }, b: { id: '3' }, c: null, d: null, e: { name: 'E' } };
    expect([status, data]).toEqual([200, all]);
    expect(codes(errors)).toEqual([
      ['c', 'TOY_BROKEN'],
      ['d', 'BAD_USER_INPUT'],
    ]);
    expect(await added()).toEqual(['A', 'E']);
  });

  test('runs once and keeps its change, even if reading its result fails', async () => {
    const { data, errors } = await gateway.graphql(
      'mutation { made: createBox(input: { name: "Blocks" }) { name toys(first: 0) { totalCount } } }',
    );
    expect([data, codes(errors)]).toEqual([{ made: null }, [['made.toys', 'BAD_USER_INPUT']]]);
    expect(await added()).toEqual(['Blocks']);
  });

  test('over the rate limit runs none of its fields, and returns no data', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 100 });
    await gateway.graphql('{ toys { totalCount } }', undefined, headers);
    const create = 'createBox(input: { name: "A" }) { name }';
    const { status, data, errors } = await gateway.graphql(`mutation { a: ${create} b: ${create} }`, {}, headers);
    expect([status, data, codes(errors)]).toEqual([429, undefined, [[undefined, 'RATE_LIMITED']]]);
    expect(await added()).toEqual([]);
  });
});
