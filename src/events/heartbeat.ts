import type { Redis } from 'ioredis';

/**
 * Pings a connection again and again, and makes it anew when it has not answered by the next time: nobody is told of a
 * network that drops everything, and who waits for an answer would wait for good.
 * @returns what ends it.
 */
export function heartbeat(redis: Redis, everyMs: number): () => void {
  let isAwaited = false;
  const answered = () => {
    isAwaited = false;
  };
  const beat = () => {
    // One that is still being made is left to its own time-out.
    if (redis.status !== 'ready' && redis.status !== 'connect') return;
    if (isAwaited) return redis.disconnect(true);
    isAwaited = true;
    redis.ping().then(answered, () => undefined);
  };
  redis.on('ready', answered).on('close', answered);
  // A busy process may run a late timer before it reads its sockets. An answer that is already there still counts.
  const timer = setInterval(() => setImmediate(beat), everyMs).unref();
  return () => clearInterval(timer);
}
