import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import type { LiveResult } from '../../../src/graphql/subscriptions';
import { type ConnectionOperation, TransportWsHandler } from '../../../src/http/live/transport-ws-handler';

describe('a connection that ends', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  function connect() {
    const started: ConnectionOperation[] = [];
    const sent: string[] = [];
    const finish: ((result: LiveResult) => void)[] = [];
    const connection = new TransportWsHandler({
      protocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
      limitMs: 1000,
      unreadProblem: () => undefined,
      send: async (text) => void sent.push(text),
      close: (code, reason) => void sent.push(`${code} ${reason}`),
      authenticate: async () => true,
      runOperation: (_payload, _bytes, operation) => {
        started.push(operation);
        // As a statement that waits does.
        operation.startDeadline.onEnd(() => undefined);
        return new Promise((resolve) => finish.push(resolve));
      },
    });
    const receive = (message: object) => connection.receive(JSON.stringify(message));
    return { connection, receive, started, sent, finish };
  }
  const subscribe = (id: string) => ({ type: 'subscribe', id, payload: { query: '{ __typename }' } });

  test('before `connection_init` leaves no timer', () => {
    const before = timers();
    const { connection } = connect();
    expect(timers()).toBe(before + 1);
    connection.end();
    expect(timers()).toBe(before);
  });

  test('while operations run ends their deadlines, and sends none of their results', async () => {
    const { connection, receive, started, sent, finish } = connect();
    await receive({ type: 'connection_init' });
    const handled = [receive(subscribe('a')), receive({ type: 'complete', id: 'a' }), receive(subscribe('a'))];
    expect(started.map(({ startDeadline }) => startDeadline.reason !== undefined)).toEqual([true, false]);
    connection.end();
    expect(started.map(({ startDeadline }) => startDeadline.reason !== undefined)).toEqual([true, true]);
    for (const resolve of finish) resolve({ status: 200, body: { data: {} } });
    await Promise.all(handled);
    expect(sent).toEqual(['{"type":"connection_ack"}']);
  });
});
