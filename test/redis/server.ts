import { REDIS_BINARY, RedisServer } from '../helper/redis-server';

const { TEST_REDIS_URL } = process.env;

/** Whether {@link openRedis} works on this machine. */
export const HAS_REDIS = Boolean(REDIS_BINARY ?? TEST_REDIS_URL);

/** Starts a Redis server for a test file. If none is installed, returns the URL in TEST_REDIS_URL. */
export async function openRedis(): Promise<{ url: string; close(): Promise<void> }> {
  if (!REDIS_BINARY) return { url: String(TEST_REDIS_URL), close: async () => undefined };
  const server = await RedisServer.start(REDIS_BINARY);
  return { url: server.url, close: () => server.remove() };
}
