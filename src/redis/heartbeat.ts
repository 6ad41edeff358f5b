import type { Redis } from 'ioredis';

/**
 * Pings a connection periodically, and reconnects if there is no reply by the next ping. A network that silently drops
 * packets reports no error, so commands would otherwise wait forever.
 * @returns a function that stops the pings.
 */
export function heartbeat(redis: Redis, everyMs: number): () => void {
  let isAwaited = false;
  const answered = () => {
    isAwaited = false;
  };
  const beat = () => {
    // A connection that is still being established has a separate timeout.
    if (redis.status !== 'ready' && redis.status !== 'connect') return;
    if (isAwaited) return redis.disconnect(true);
    isAwaited = true;
    redis.ping().then(answered, () => undefined);
  };
  redis.on('ready', answered).on('close', answered);
  // A busy process may run an overdue timer before it reads a reply. `setImmediate` gives it time to read the reply.
  const timer = setInterval(() => setImmediate(beat), everyMs).unref();
  return () => clearInterval(timer);
}
