import fastify from 'fastify';
import { completeAnswers } from '../../src/http/answer-headers';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { PLANS } from '../../src/rate-limit/plans';
import { BANS } from '../rate-limit/scenarios';

test('a second response is dropped while the first is being counted', async () => {
  const standing = new MemoryStore({ bans: BANS, now: Date.now }).take(
    { id: 'a', quota: PLANS.FREE },
    1,
    'counted',
  );
  const take = () => new Promise((resolve) => setTimeout(resolve, 10, standing));
  const app = fastify();
  app.addHook('onRequest', (request, _reply, done) => {
    Object.assign(request, { meter: { take } });
    done();
  });
  completeAnswers(app, Date.now, false);
  const writeHead = jest.fn();
  app.get('/', (_request, reply) => {
    const write = reply.raw.writeHead.bind(reply.raw);
    reply.raw.writeHead = ((...head: Parameters<typeof write>) => {
      writeHead();
      return write(...head);
    }) as typeof write;
    reply.send('first');
    reply.send('second');
  });
  const { statusCode, body } = await app.inject('/');
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect([statusCode, body]).toEqual([200, 'first']);
  expect(writeHead).toHaveBeenCalledTimes(1);
  await app.close();
});
