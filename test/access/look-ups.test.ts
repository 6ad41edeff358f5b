import { KeyRing } from '../../src/access/key-ring';
import { formatKey, hashSecret, newKey } from '../../src/access/secret';
import type { Database } from '../../src/database/database';

const presented = newKey();
const whole = formatKey(presented);
const ADDRESS = '192.0.2.1';

/** A key ring on a database that answers when it is told to, and how often it was asked. */
function slowRing() {
  const answers: ((revokedAt?: Date) => void)[] = [];
  const findUnique = () =>
    new Promise((resolve) => {
      answers.push((revokedAt) =>
        resolve({
          id: presented.id,
          secretHash: hashSecret(presented.secret),
          plan: 'FREE',
          scopes: ['READ'],
          revokedAt,
          lastUsedAt: new Date(),
        }),
      );
    });
  const database = { prisma: { apiKey: { findUnique } } } as unknown as Database;
  return { keys: new KeyRing(database, Date.now), answers };
}

test('a key that many requests come with at once is looked up once, and each is compared with its secret', async () => {
  const { keys, answers } = slowRing();
  const wrong = formatKey({ ...presented, secret: '0'.repeat(32) });
  const asked = [whole, whole, wrong].map((key) => keys.recognise(key, ADDRESS));
  expect(answers).toHaveLength(1);
  answers[0]?.();
  const [first, second, third] = await Promise.all(asked);
  expect([first?.id, second?.id, third]).toEqual([presented.id, presented.id, undefined]);
});

test('who comes after a key was changed does not join a look-up from before', async () => {
  const { keys, answers } = slowRing();
  const before = keys.recognise(whole, ADDRESS);
  keys.forget(presented.id);
  const after = keys.recognise(whole, ADDRESS);
  expect(answers).toHaveLength(2);
  answers[1]?.(new Date());
  answers[0]?.();
  expect((await before)?.id).toBe(presented.id);
  expect(await after).toBeUndefined();
  // Neither does what was read before the change stay.
  expect(await keys.recognise(whole, ADDRESS)).toBeUndefined();
});

test('a look-up that fails is tried again by the next request', async () => {
  let fails = true;
  const database = {
    prisma: { apiKey: { findUnique: async () => (fails ? Promise.reject(new Error('gone')) : null) } },
  } as unknown as Database;
  const keys = new KeyRing(database, Date.now);
  await expect(keys.recognise(whole, ADDRESS)).rejects.toThrow('gone');
  fails = false;
  expect(await keys.recognise(whole, ADDRESS)).toBeUndefined();
});
