import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import type { LightMyRequestResponse as Response } from 'fastify';
import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import type { Gateway } from '../helper/gateway';
import { fill } from '../helper/world';
import type { FuzzedRequest } from './callers';

/** Minutes per fuzzer, set by `npm run fuzz`. If 0, the run is short, and has a fixed seed. */
export const MINUTES = Number(process.env.FUZZ_MINUTES ?? 0);
export const SEED = Number(process.env.FUZZ_SEED ?? (MINUTES ? randomInt(2 ** 31) : 20261121));
const PATH = process.env.FUZZ_PATH;

/** How long Jest may wait for {@link fuzz}, in milliseconds. */
export const FUZZ_TIMEOUT_MS = Math.max(120, MINUTES * 60 + 120) * 1000;

/**
 * Sends random sequences of requests. Each sequence starts with the same data. If a response is wrong, fast-check finds a
 * shorter sequence that fails, and prints its seed and path. To reproduce it: `FUZZ_SEED=… FUZZ_PATH=… npm run fuzz`.
 * @param sequences number of sequences if `FUZZ_MINUTES` is unset, with about twenty requests each.
 * @param faultsOf returns the faults of a response; empty if the response is right.
 * @returns the statuses of all responses.
 * @throws Error if a response has a fault.
 */
export async function fuzz(
  gateway: Gateway,
  requests: fc.Arbitrary<FuzzedRequest>,
  sequences: number,
  faultsOf: (request: FuzzedRequest, response: Response) => string[],
): Promise<Set<number>> {
  const counts = new Map<number, number>();
  const send = async (sequence: FuzzedRequest[]) => {
    await openShop(gateway.database);
    for (const request of sequence) {
      const response = await gateway.server.inject(request as never);
      const { statusCode, payload } = response;
      const faults = faultsOf(request, response);
      const lines = [...faults, JSON.stringify(request), String(statusCode), payload];
      if (faults.length) throw new Error(lines.map((line) => line.slice(0, 2000)).join('\n'));
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    }
  };
  let running: Promise<void> = Promise.resolve();
  const sequence = fc.array(requests, { minLength: 1, maxLength: 40, size: 'max' });
  const property = fc.asyncProperty(sequence, (some) => {
    running = send(some);
    return running;
  });
  await fc.assert(property, {
    seed: SEED,
    ...(PATH && { path: PATH }),
    ...(MINUTES ? { interruptAfterTimeLimit: MINUTES * 60_000, numRuns: 1e9 } : { numRuns: sequences }),
  });
  // At its time limit, fast-check does not wait for the running sequence.
  await running;
  const told = [...counts].sort().map(([status, count]) => `${status} × ${count}`);
  if (MINUTES) process.stdout.write(`FUZZ_SEED=${SEED}: ${told.join(', ')}\n`);
  return new Set(counts.keys());
}

/** Fills the database with a shop: equal sort keys, minimum and maximum stock, and an API key that requests may change. */
export async function openShop(database: Database): Promise<void> {
  await fill(database, {
    categories: [1, 2, 3].map((id) => ({ id, name: id === 2 ? '🐕' : 'Dogs' })),
    pets: [
      { id: 1, name: 'Rex', status: 'available', categoryId: 1, quantity: 5 },
      { id: 2, name: 'x'.repeat(255), status: 'sold', categoryId: 1, quantity: 2147483647 },
      { id: 3, name: 'Tom', status: 'pending', categoryId: 2, quantity: 0 },
      { id: 4, name: 'Tom', status: 'available', categoryId: 2, quantity: null },
    ],
    orders: [
      { id: 1, petId: 1, shipDate: null, complete: false },
      { id: 2, petId: 2, shipDate: '9999-12-31T23:59:59.999Z', complete: true },
      { id: 3, petId: null, shipDate: '0001-01-01T00:00:00.000Z', complete: false },
    ],
  });
  const key = `insert into api_keys (id, secret_hash, name, plan, scopes)
    values ('abcdefghijkl', sha256('x'), 'x', 'FREE', '{READ}')`;
  await database.serviceSession().query(statement("delete from api_keys where id <> 'testadmin000'"), []);
  await database.serviceSession().query(statement(key), []);
}
