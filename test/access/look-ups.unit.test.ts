import { KeyRing } from '../../src/access/key-ring';
import { formatKey, hashSecret, newKey } from '../../src/access/secret';
import type { Database } from '../../src/database/database';

const presented = newKey();
const whole = formatKey(presented);
const ADDRESS = '192.0.2.1';

/** A key ring on a database that answers on demand, and its pending answers. */
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

test('concurrent requests with one key share a look-up, and each secret is compared', async () => {
  const { keys, answers } = slowRing();
  const wrong = formatKey({ ...presented, secret: '0'.repeat(32) });
  const asked = [whole, whole, wrong].map((key) => keys.recognise(key, ADDRESS));
  expect(answers).toHaveLength(1);
  answers[0]?.();
  const [first, second, third] = await Promise.all(asked);
  expect([first?.id, second?.id, third]).toEqual([presented.id, presented.id, undefined]);
});

test('a request after a key has changed does not join an earlier look-up', async () => {
  const { keys, answers } = slowRing();
  const before = keys.recognise(whole, ADDRESS);
  keys.forget(presented.id);
  const after = keys.recognise(whole, ADDRESS);
  expect(answers).toHaveLength(2);
  answers[1]?.(new Date());
  answers[0]?.();
  expect((await before)?.id).toBe(presented.id);
  expect(await after).toBeUndefined();
  // Nor is what was read before the change kept.
  expect(await keys.recognise(whole, ADDRESS)).toBeUndefined();
});

test('a failed look-up is retried by the next request', async () => {
  let fails = true;
  const database = {
    prisma: { apiKey: { findUnique: async () => (fails ? Promise.reject(new Error('gone')) : null) } },
  } as unknown as Database;
  const keys = new KeyRing(database, Date.now);
  await expect(keys.recognise(whole, ADDRESS)).rejects.toThrow('gone');
  fails = false;
  expect(await keys.recognise(whole, ADDRESS)).toBeUndefined();
});

describe('on a connection that has sent a valid key', () => {
  const connection = {};

  /** The caller; completes the one look-up that may be needed. */
  async function recognise({ keys, answers }: ReturnType<typeof slowRing>, key: string, revokedAt?: Date) {
    const asked = keys.recognise(key, ADDRESS, connection);
    answers.pop()?.(revokedAt);
    return (await asked)?.id;
  }

  test('a key with another secret is refused, and the valid one still accepted', async () => {
    const ring = slowRing();
    expect(await recognise(ring, whole)).toBe(presented.id);
    for (const at of [0, 15, 31]) {
      const { secret } = presented;
      const other = secret.slice(0, at) + (secret[at] === 'a' ? 'b' : 'a') + secret.slice(at + 1);
      expect(await recognise(ring, formatKey({ ...presented, secret: other }))).toBeUndefined();
      expect(await recognise(ring, whole)).toBe(presented.id);
    }
    expect(await recognise(ring, `${whole}a`)).toBeUndefined();
    expect(await recognise(ring, whole.slice(0, -1))).toBeUndefined();
  });

  test('it is looked up again after a change', async () => {
    const ring = slowRing();
    expect(await recognise(ring, whole)).toBe(presented.id);
    ring.keys.forget(presented.id);
    expect(await recognise(ring, whole, new Date())).toBeUndefined();
    expect(ring.keys.recognise(whole, ADDRESS, connection)).toBeUndefined();
  });

  test('it is looked up again after a change during its look-up', async () => {
    const ring = slowRing();
    const before = ring.keys.recognise(whole, ADDRESS, connection);
    ring.keys.forget(presented.id);
    ring.answers.pop()?.();
    expect((await before)?.id).toBe(presented.id);
    expect(await recognise(ring, whole, new Date())).toBeUndefined();
  });

  test('it is looked up again after five seconds', async () => {
    const ring = slowRing();
    expect(await recognise(ring, whole)).toBe(presented.id);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
    expect(await recognise(ring, whole, new Date())).toBeUndefined();
    jest.restoreAllMocks();
  });

  test('it expires to the millisecond', async () => {
    let now = 1_000;
    const key = {
      id: presented.id,
      secretHash: hashSecret(presented.secret),
      plan: 'FREE',
      scopes: ['READ'],
      expiresAt: new Date(2_000),
      lastUsedAt: new Date(1_000),
    };
    const database = { prisma: { apiKey: { findUnique: async () => key } } } as unknown as Database;
    const keys = new KeyRing(database, () => now);
    expect((await keys.recognise(whole, ADDRESS, connection))?.id).toBe(presented.id);
    now = 1_999;
    expect((await keys.recognise(whole, ADDRESS, connection))?.id).toBe(presented.id);
    now = 2_000;
    expect(await keys.recognise(whole, ADDRESS, connection)).toBeUndefined();
  });
});
