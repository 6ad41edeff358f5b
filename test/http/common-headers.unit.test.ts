import fastify from 'fastify';
import { chargeRequests } from '../../src/http/charge';
import { addHeaders } from '../../src/http/common-headers';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { PLANS } from '../../src/rate-limit/plans';
import { responsesIn } from '../helper/messages';
import { exchange } from '../helper/wire';
import { BANS } from '../rate-limit/scenarios';

const app = fastify();
afterAll(() => app.close());

test('a second response to a request is dropped while the first waits for the rate limiter', async () => {
  const standing = new MemoryStore({ bans: BANS, now: Date.now }).take({ id: 'a', quota: PLANS.FREE }, 1, 'counted');
  const charge = () => new Promise((resolve) => setTimeout(resolve, 10, standing));
  app.addHook('onRequest', (request, _reply, done) => {
    Object.assign(request, { meter: { charge }, route: {} });
    done();
  });
  app.addHook('onSend', chargeRequests);
  app.addHook('onSend', addHeaders({ now: Date.now, requests: { isClosing: false }, errors: new Map() }));
  app.get('/', (_request, reply) => {
    reply.send('first');
    reply.send('second');
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  // If `reply.send('second')` were not dropped, it would throw an uncaught error, which fails the test.
  const received = await exchange(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  expect(responsesIn(received).map(({ status, body }) => [status, body])).toEqual([
    [200, 'first'],
    [200, 'first'],
  ]);
});
