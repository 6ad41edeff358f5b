import { REDIS_BINARY, RedisServer } from '../helper/redis-server';

const { TEST_REDIS_URL } = process.env;

/** Whether {@link openRedis} works on this machine. */
export const HAS_REDIS = Boolean(REDIS_BINARY ?? TEST_REDIS_URL);

/** A Redis for a test file: a server of its own, or the one at TEST_REDIS_URL where no server is installed. */
export async function openRedis(): Promise<{ url: string; close(): Promise<void> }> {
  if (!REDIS_BINARY) return { url: String(TEST_REDIS_URL), close: async () => undefined };
  const server = await RedisServer.start(REDIS_BINARY);
  return { url: server.url, close: () => server.remove() };
}
