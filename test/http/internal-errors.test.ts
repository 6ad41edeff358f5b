import pino from 'pino';
import { Executor } from '../../src/graphql/executor';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { socketClient } from '../helper/live';

const lines: Record<string, unknown>[] = [];
const destination = { write: (line: Buffer) => lines.push(JSON.parse(String(line))) };

let gateway: Gateway;
beforeAll(async () => {
  jest.spyOn(pino, 'destination').mockReturnValue(destination as never);
  gateway = await startGateway({ LOG_LEVEL: 'error' });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

const json = { 'content-type': 'application/json' };
const post = { method: 'POST', url: '/graphql', headers: json } as const;
const payload = '{"query":"{ pets { totalCount } }"}';

test.each([
  ['a REST operation', { url: '/pets' }],
  ['a new operation', { ...post, payload: payload.replace('{ pets', 'query New { pets') }],
  ['a known operation', { ...post, payload }],
  ['an operation by GET', { url: '/graphql', query: { query: '{ pets { totalCount } }' } }],
  [
    'an operation for an event stream',
    { ...post, url: '/graphql/stream', headers: { ...json, accept: 'text/event-stream' }, payload },
  ],
])(
  'an internal error in %s is logged once, in full, under the id that its caller gets',
  async (_what, request) => {
    await gateway.app.inject({ ...post, payload });
    const bug = new Error('a bug');
    jest.spyOn(Executor.prototype, 'run').mockRejectedValue(bug);
    lines.length = 0;
    const answer = await gateway.app.inject(request);
    const body = answer.json();
    const { code, requestId } = body.errors ? body.errors[0].extensions : body;
    expect([answer.statusCode, code, requestId]).toEqual([
      500,
      'INTERNAL_SERVER_ERROR',
      answer.headers['x-request-id'],
    ]);
    expect(answer.body).not.toContain('a bug');
    expect(lines.filter(({ err }) => err)).toEqual([
      expect.objectContaining({
        requestId,
        err: expect.objectContaining({ message: 'a bug', stack: bug.stack }),
      }),
    ]);
  },
);

test('over WebSocket too', async () => {
  const client = socketClient(await gateway.listen(), { 'x-api-key': ADMIN_KEY });
  jest.spyOn(Executor.prototype, 'run').mockRejectedValue(new Error('a bug'));
  lines.length = 0;
  const { error } = await client.subscribe('{ pets { totalCount } }').untilOver();
  client.close();
  const [{ extensions }] = error as [{ extensions: Record<string, unknown> }];
  expect(extensions).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) });
  expect(lines.filter(({ err }) => err)).toEqual([
    expect.objectContaining({
      requestId: extensions.requestId,
      err: expect.objectContaining({ message: 'a bug' }),
    }),
  ]);
});
