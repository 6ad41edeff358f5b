import type { InjectOptions } from 'fastify';
import pino from 'pino';
import type { Gateway } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { until } from '../../helper/until';
import { startToys } from '../../toys/gateway';

const lines: Record<string, unknown>[] = [];
const destination = { write: (line: Buffer) => lines.push(JSON.parse(String(line))) };

const bug = new Error('a bug');

/** Whether the gateway's clock fails, once. */
let clockFails = false;
function now(): number {
  if (!clockFails) return Date.now();
  clockFails = false;
  throw bug;
}

let gateway: Gateway;
beforeAll(async () => {
  jest.spyOn(pino, 'destination').mockReturnValue(destination as never);
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
/** An operation with a name that has not been there. */
const newPayload = () => payload.replace('{ toys', `query New${operations++} { toys`);
const REQUESTS = [
  ['a REST operation', 500, () => ({ url: '/toys' })],
  ['a known operation', 200, () => ({ ...post, payload })],
  [
    'an operation for an event stream',
    200,
    () => ({ ...post, url: '/graphql/stream', headers: { ...json, accept: 'text/event-stream' }, payload }),
  ],
  ['a new operation', 200, () => ({ ...post, payload: newPayload() })],
  ['an operation by GET', 200, () => ({ url: '/graphql', query: { query: '{ toys { totalCount } }' } })],
] as const;

/** Checks that the response tells nothing of the bug but that there is one, which is logged under this id. */
function holdToBug(body: string, requestId: string | undefined): void {
  const codes = Array.from(body.matchAll(/"code": ?"(\w+)"/g), ([, code]) => code);
  expect(codes).toEqual(['INTERNAL_SERVER_ERROR']);
  expect(body).toContain('"Something went wrong on our side. Tell us the request id, and we will find out what."');
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

describe('an internal error is logged once, in full, under the request id; the response says nothing else about it', () => {
  test.each(REQUESTS)('in the data of %s', async (_what, status, request) => {
    await gateway.app.inject({ ...post, payload });
    breakReads();
    const { statusCode, body, headers } = await gateway.app.inject(request());
    expect([statusCode, idIn(body)]).toEqual([status, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test.each(REQUESTS)('before %s', async (_what, _status, request) => {
    const key = await gateway.createKey();
    jest.spyOn(gateway.database.prisma.apiKey, 'findUnique').mockRejectedValue(bug);
    const asked: InjectOptions = request();
    const { statusCode, body, headers } = await gateway.app.inject({
      ...asked,
      headers: { ...asked.headers, ...key.headers },
    });
    expect([statusCode, idIn(body)]).toEqual([500, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test.each(REQUESTS)('when %s is counted', async (_what, _status, request) => {
    await gateway.app.inject({ ...post, payload });
    // For a caller without a key nothing needs the time before that.
    clockFails = true;
    const { statusCode, body, headers } = await gateway.server.inject(request());
    expect([statusCode, clockFails, idIn(body)]).toEqual([500, false, headers['x-request-id']]);
    holdToBug(body, idIn(body));
  });

  test('over WebSocket too', async () => {
    const client = socketClient(await gateway.listen());
    const ask = () => client.subscribe('{ toys { totalCount } }').untilOver();
    // Keeps the connection, so that nothing needs the time before the next operation is counted.
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
