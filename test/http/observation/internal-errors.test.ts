import type { InjectOptions } from 'fastify';
import type { Gateway } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { captureLog } from '../../helper/log-lines';
import { watchLookUps } from '../../helper/look-ups';
import { until } from '../../helper/until';
import { startToys } from '../../toys/gateway';

const lines = captureLog();

const bug = new Error('a bug');

/** Makes the next call of the gateway's clock fail. */
let clockFails = false;
function now(): number {
  if (!clockFails) return Date.now();
  clockFails = false;
  throw bug;
}

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys({ LOG_LEVEL: 'error', ANONYMOUS_ACCESS: 'write' }, now);
});
afterEach(() => {
  jest.restoreAllMocks();
  lines.length = 0;
});
afterAll(() => gateway.close());

function breakReads(): void {
  jest.spyOn(gateway.database, 'query').mockRejectedValue(bug);
}

const json = { 'content-type': 'application/json' };
const post = { method: 'POST', url: '/graphql', headers: json } as const;
const payload = '{"query":"{ toys { totalCount } }"}';
let operations = 0;
/** @returns an operation with a new name, so that its document is not cached. */
const newPayload = () => payload.replace('{ toys', `query New${operations++} { toys`);
const REQUESTS = [
  ['a REST operation', 500, () => ({ url: '/toys' })],
  ['an operation with a cached document', 200, () => ({ ...post, payload })],
  [
    'an operation for an event stream',
    200,
    () => ({ ...post, url: '/graphql/stream', headers: { ...json, accept: 'text/event-stream' }, payload }),
  ],
  ['an operation with a new document', 200, () => ({ ...post, payload: newPayload() })],
  ['an operation by GET', 200, () => ({ url: '/graphql', query: { query: '{ toys { totalCount } }' } })],
] as const;

/** Checks that the response hides the details of the bug, and that they are logged once, with this request id. */
function holdToBug(body: string, requestId: string | undefined): void {
  const codes = Array.from(body.matchAll(/"code": ?"(\w+)"/g), ([, code]) => code);
  expect(codes).toEqual(['INTERNAL_SERVER_ERROR']);
  expect(body).toContain('"An unexpected error occurred. Report the request id to the operator of the server."');
  expect(body).not.toContain('a bug');
  expect(requestId).toEqual(expect.any(String));
  expect(lines.filter(({ err }) => err)).toEqual([
    expect.objectContaining({
      requestId,
      err: expect.objectContaining({ message: 'a bug', stack: bug.stack }),
    }),
  ]);
}

function idIn(body: string): string | undefined {
  return /"requestId": ?"([^"]+)"/.exec(body)?.[1];
}

describe('an internal error is logged once in full, and the response hides its details', () => {
  test.each(REQUESTS)('when the data of %s is read', async (_what, status, request) => {
    await gateway.app.inject({ ...post, payload });
    breakReads();
    const { statusCode, body, headers } = await gateway.app.inject(request());
    expect([statusCode, idIn(body)]).toEqual([status, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test.each(REQUESTS)('when the key of %s is looked up', async (_what, _status, request) => {
    const key = await gateway.createKey();
    watchLookUps(gateway.database, () => Promise.reject(bug));
    const asked: InjectOptions = request();
    const { statusCode, body, headers } = await gateway.app.inject({
      ...asked,
      headers: { ...asked.headers, ...key.headers },
    });
    expect([statusCode, idIn(body)]).toEqual([500, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test.each(REQUESTS)('when %s is charged', async (_what, _status, request) => {
    await gateway.app.inject({ ...post, payload });
    // Without a key, charging the request is the first step that reads the clock.
    clockFails = true;
    const { statusCode, body, headers } = await gateway.server.inject(request());
    expect([statusCode, clockFails, idIn(body)]).toEqual([500, false, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test('when an operation over WebSocket is charged, or when its data is read', async () => {
    const client = socketClient(await gateway.listen());
    const ask = () => client.subscribe('{ toys { totalCount } }').untilOver();
    // This subscription opens the connection. Charging the next operation is then the first step that reads the clock.
    client.subscribe('subscription { toyChanged { kind } }');
    await until(async () => (await running(gateway)) === 1);

    clockFails = true;
    const refusal = JSON.stringify((await ask()).error);
    holdToBug(refusal, idIn(refusal));

    lines.length = 0;
    breakReads();
    const answer = JSON.stringify((await ask()).answers);
    holdToBug(answer, idIn(answer));
    client.close();
  });
});

test.each([
  ['unreachable', { code: 'ECONNREFUSED' }],
  ['overloaded', { code: '53300' }],
  ['too slow', { code: '57014' }],
])(
  'failures of a database that is %s are logged once per second, with their number and without stacks',
  async (_how, fields) => {
    const key = await gateway.createKey();
    await gateway.app.inject({ url: '/toys', headers: key.headers });
    const query = gateway.database.query.bind(gateway.database);
    jest
      .spyOn(gateway.database, 'query')
      .mockImplementation((...args) =>
        args[0].text.includes('from api_keys')
          ? query(...args)
          : Promise.reject(Object.assign(new Error('down'), fields)),
      );
    lines.length = 0;
    const failing = `{ ${Array.from({ length: 50 }, (_, i) => `t${i}: toy(id: 1) { name }`).join(' ')} }`;
    for (let i = 0; i < 3; i++) await gateway.app.inject({ ...post, payload: JSON.stringify({ query: failing }) });
    await gateway.app.inject({ url: '/toys' });
    const total = () => lines.reduce((sum, { failures }) => sum + Number(failures), 0);
    await until(async () => total() === 151);
    expect(lines.length).toBeLessThanOrEqual(4);
    for (const line of lines) expect(line).toMatchObject({ msg: 'database operations failed', reason: 'down' });
    expect(JSON.stringify(lines)).not.toContain('stack');
  },
);
