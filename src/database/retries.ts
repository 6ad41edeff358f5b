import { setTimeout as sleep } from 'node:timers/promises';
import type { Deadline } from './deadline';
import { failureOf } from './failures';

const ATTEMPTS = 4;

/**
 * Runs `work`, and retries it after a deadlock or serialization failure. After these failures, PostgreSQL has already rolled
 * the work back.
 */
export async function retrying<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || failureOf(error) !== 'transient') throw error;
      await sleep(Math.random() * 20 * attempt);
      deadline.check();
    }
  }
}
