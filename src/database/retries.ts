import { setTimeout as sleep } from 'node:timers/promises';
import type { Deadline } from './deadline';
import { failureOf } from './failures';

const ATTEMPTS = 4;

/**
 * Runs `work`, and retries it after a deadlock or serialization failure, or if a prepared statement is out of date. After these
 * failures, PostgreSQL has already rolled the work back.
 */
export async function retrying<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(error);
      if (attempt === ATTEMPTS || (failure !== 'transient' && failure !== 'stale')) throw error;
      if (failure === 'transient') await sleep(Math.random() * 20 * attempt);
      deadline.check();
    }
  }
}
