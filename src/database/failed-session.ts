import type { Session } from './database';

/** A session that has ended: every call fails with `error`. */
export function failedSession(error: unknown): Session {
  const fail = () => Promise.reject(error);
  return {
    get prisma(): never {
      throw error;
    },
    query: fail,
    transaction: fail,
    changed: () => undefined,
  };
}
