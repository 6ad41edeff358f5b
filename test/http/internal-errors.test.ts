import pino from 'pino';
import { type Gateway, startGateway } from '../helper/gateway';
import { socketClient } from '../helper/live';

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
  gateway = await startGateway({ LOG_LEVEL: 'error', ANONYMOUS_ACCESS: 'write' }, now);
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
const payload = '{"query":"{ pets { totalCount } }"}';
const REQUESTS = [
  ['a REST operation', 500, { url: '/pets' }],
  ['a new operation', 200, { ...post, payload: payload.replace('{ pets', 'query New { pets') }],
  ['a known operation', 200, { ...post, payload }],
  ['an operation by GET', 200, { url: '/graphql', query: { query: '{ pets { totalCount } }' } }],
  [
    'an operation for an event stream',
    200,
    { ...post, url: '/graphql/stream', headers: { ...json, accept: 'text/event-stream' }, payload },
  ],
] as const;

/** Checks that this response tells of the bug nothing but that there is one, and that it is logged under its id. */
function holdToBug(body: string, requestId: unknown): void {
  const codes = Array.from(body.matchAll(/"code": ?"(\w+)"/g), ([, code]) => code);
  expect(codes).toEqual(['INTERNAL_SERVER_ERROR']);
  expect(body).not.toContain('a bug');
  expect(idIn(body)).toBe(requestId);
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

describe('a bug is logged once, in full, under the id that the caller gets, who learns nothing else about it', () => {
  test.each(REQUESTS)('in the data of %s', async (_what, status, request) => {
    await gateway.app.inject({ ...post, payload });
    breakReads();
    const answer = await gateway.app.inject(request);
    expect(answer.statusCode).toBe(status);
    holdToBug(answer.body, answer.headers['x-request-id']);
  });

  test.each(REQUESTS)('before %s', async (_what, _status, request) => {
    const key = await gateway.createKey();
    jest.spyOn(gateway.database.prisma.apiKey, 'findUnique').mockRejectedValue(bug);
    const headers = { ...('headers' in request && request.headers), ...key.headers };
    const answer = await gateway.app.inject({ ...request, headers });
    expect(answer.statusCode).toBe(500);
    holdToBug(answer.body, answer.headers['x-request-id']);
  });

  // Of a caller without a key nothing needs the time before that.
  test.each(REQUESTS)('when %s is counted', async (_what, _status, request) => {
    await gateway.app.inject({ ...post, payload });
    clockFails = true;
    const answer = await gateway.server.inject(request);
    expect(answer.statusCode).toBe(500);
    holdToBug(answer.body, answer.headers['x-request-id']);
  });

  test('over WebSocket too', async () => {
    const client = socketClient(await gateway.listen());
    const subscribe = () => client.subscribe('{ pets { totalCount } }').untilOver();
    expect((await subscribe()).answers).toMatchObject([{ data: { pets: { totalCount: 0 } } }]);

    clockFails = true;
    const refusal = JSON.stringify((await subscribe()).error);
    holdToBug(refusal, expect.any(String));
    expect(lines).toMatchObject([{ requestId: idIn(refusal) }]);

    lines.length = 0;
    breakReads();
    const answer = JSON.stringify((await subscribe()).answers);
    holdToBug(answer, expect.any(String));
    expect(lines).toMatchObject([{ requestId: idIn(answer) }]);
    client.close();
  });
});
