import type { Gateway } from '../../helper/gateway';
import { type Subscriber, socketClient, streamClient } from '../../helper/live';
import { captureLog } from '../../helper/log-lines';
import { until } from '../../helper/until';
import { startToys } from '../../toys/gateway';

const lines = captureLog();
const UNREACHABLE = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const QUERY = '{ toys { totalCount } }';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startToys({ LOG_LEVEL: 'info', ANONYMOUS_ACCESS: 'write', REQUEST_TIMEOUT_MS: '5000' });
  url = await gateway.listen();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

/** @returns the increase of the request and error counters during `act`, and the access log line. */
async function observed(act: () => Promise<unknown>) {
  const before = await counts();
  const logged = () => lines.filter(({ msg }) => msg === 'request');
  lines.length = 0;
  await act();
  await until(async () => logged().length > 0);
  const gained = [...(await counts())].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return { ...Object.fromEntries(gained.filter(([, value]) => value > 0)), line: logged()[0] };
}

async function counts(): Promise<Map<string, number>> {
  const { body } = await gateway.app.inject({ url: '/metrics' });
  const samples = body.matchAll(/^petstore_(?:request_duration_seconds_count|errors_total)(\{\S.*\}) (\d+)$/gm);
  return new Map(Array.from(samples, ([, name = '', value]) => [name, Number(value)]));
}

const request = (operation: string, status: string) => `{operation="${operation}",status="${status}"}`;
const error = (code: string, by: string) => `{code="${code}",interface="${by}"}`;

const post = (query: string, headers = {}) => gateway.graphql(query, {}, headers);

const INTERFACES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['by POST', () => post(QUERY)],
  ['by POST with a new document', () => post(`${QUERY} # ${Math.random()}`)],
  ['by GET', () => gateway.app.inject({ url: '/graphql', query: { query: QUERY } })],
  ['as an event stream', () => subscribed(streamClient(url))],
  ['over WebSocket', () => subscribed(socketClient(url))],
];

async function subscribed(client: Subscriber): Promise<void> {
  await client.subscribe(QUERY).untilOver();
  client.close();
}

test.each(INTERFACES)(
  'while the database is unreachable, an operation %s counts as failed, though its status is 200',
  async (_by, ask) => {
    // The keys of the requests can still be looked up.
    const query = gateway.database.query.bind(gateway.database);
    jest
      .spyOn(gateway.database, 'query')
      .mockImplementation((...args) =>
        args[0].text.includes('from api_keys') ? query(...args) : Promise.reject(UNREACHABLE),
      );
    const { line, ...gained } = await observed(ask);
    expect(gained).toMatchObject({
      [request('query toys', '5xx')]: 1,
      [error('SERVICE_UNAVAILABLE', 'graphql')]: 1,
    });
    expect(Object.keys(gained)).not.toContain(request('query toys', '2xx'));
    expect(line).toMatchObject({ operation: 'query toys', status: 200, code: 'SERVICE_UNAVAILABLE' });
  },
);

test.each(INTERFACES)('an operation %s without errors counts as 2xx and is logged without a code', async (_by, ask) => {
  const { line, ...gained } = await observed(ask);
  expect(gained).toMatchObject({ [request('query toys', '2xx')]: 1 });
  expect(Object.keys(gained).filter((name) => name.includes('code'))).toEqual([]);
  expect(line).not.toHaveProperty('code');
});

test('if an operation has several errors, the error with the highest status is counted and logged', async () => {
  const mutation = `mutation {
    a: createToy(input: { name: "" }) { id }
    b: updateToy(id: 1, input: { name: "Ball" }) { id }
    c: updateToy(id: 404, input: { name: "Ball" }) { id }
  }`;
  await observed(() => post('mutation { createToy(input: { name: "Train" }) { id } }'));
  await observed(() => post('mutation { updateToy(id: 1, input: { broken: true }) { id } }'));
  const { line, ...gained } = await observed(() => post(mutation));
  expect(gained).toMatchObject({ [error('TOY_BROKEN', 'graphql')]: 1 });
  expect(line).toMatchObject({ status: 200, code: 'TOY_BROKEN' });
});

test('the error in a replayed response is counted and logged', async () => {
  const ask = () =>
    post('mutation { updateToy(id: 404, input: { broken: true }) { id } }', { 'idempotency-key': 'observed' });
  await observed(ask);
  const { line, ...gained } = await observed(ask);
  expect(gained).toMatchObject({ [error('NOT_FOUND', 'graphql')]: 1 });
  expect(line).toMatchObject({ status: 200, code: 'NOT_FOUND' });
});

const OLD = { accept: 'application/json' };
const WRONG = { 'x-api-key': 'nonsense' };

test.each<[string, () => Promise<unknown>, [status: number, observed: string, code: string, by: string]]>([
  ['a document with a syntax error', () => post('{'), [400, '4xx', 'GRAPHQL_PARSE_FAILED', 'graphql']],
  [
    'a syntax error in a response with status 200',
    () => post('{', OLD),
    [200, '4xx', 'GRAPHQL_PARSE_FAILED', 'graphql'],
  ],
  [
    'an invalid document in a response with status 200',
    () => post('{ nonsense }', OLD),
    [200, '4xx', 'GRAPHQL_VALIDATION_FAILED', 'graphql'],
  ],
  ['a wrong key', () => post(QUERY, WRONG), [401, '4xx', 'UNAUTHENTICATED', 'graphql']],
  ['a text/plain body', () => post(QUERY, { 'content-type': 'text/plain' }), [400, '4xx', 'BAD_REQUEST', 'graphql']],
  ['a request for a missing toy', () => gateway.app.inject({ url: '/toys/404' }), [404, '4xx', 'NOT_FOUND', 'rest']],
  ['a request for an unknown path', () => gateway.app.inject({ url: '/404' }), [404, '4xx', 'NOT_FOUND', 'other']],
])('%s is counted and logged with its error code', async (_what, ask, [status, seen, code, by]) => {
  const { line, ...gained } = await observed(ask);
  expect(gained).toMatchObject({ [error(code, by)]: 1 });
  expect(Object.keys(gained).filter((name) => name.includes(`status="${seen}"`))).toHaveLength(1);
  expect(line).toMatchObject({ status, code });
});

test('while the database is unreachable, a REST request is counted and logged as SERVICE_UNAVAILABLE', async () => {
  jest.spyOn(gateway.database, 'query').mockRejectedValue(UNREACHABLE);
  const { line, ...gained } = await observed(() => gateway.app.inject({ url: '/toys' }));
  expect(gained).toMatchObject({ [request('listToys', '5xx')]: 1, [error('SERVICE_UNAVAILABLE', 'rest')]: 1 });
  expect(line).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
});

test('the counters of internal errors exist from the start, so that alerts detect the first error', async () => {
  const names = [...(await counts()).keys()].filter((name) => name.includes('INTERNAL_SERVER_ERROR'));
  expect(names).toEqual(['graphql', 'rest', 'other'].map((by) => error('INTERNAL_SERVER_ERROR', by)));
});
