import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import type { LightMyRequestResponse as Response } from 'fastify';
import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import type { Gateway } from '../helper/gateway';
import { fill } from '../helper/world';
import type { FuzzedRequest } from './callers';

/** Minutes per fuzzer under `npm run fuzz`; without it the suite's own short and repeatable run. */
const MINUTES = Number(process.env.FUZZ_MINUTES ?? 0);
const SEED = Number(process.env.FUZZ_SEED ?? (MINUTES ? randomInt(2 ** 31) : 20261121));
const PATH = process.env.FUZZ_PATH;

/** How long Jest may wait for {@link fuzz}, in milliseconds. */
export const FUZZ_TIMEOUT_MS = Math.max(120, MINUTES * 60 + 120) * 1000;

/**
 * Sends sequences of requests, each to the same small shop, and fails with the shortest one it can find that gets a wrong
 * response. The seed and path that it then prints reproduce it: `FUZZ_SEED=… FUZZ_PATH=… npm run fuzz`.
 * @param sequences their number in the suite, with some twenty requests each
 * @param faultsOf the faults of a response; empty if there are none
 * @returns the statuses of the responses
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
  // When its time is up, fast-check does not wait for the last sequence.
  await running;
  const told = [...counts].sort().map(([status, count]) => `${status} × ${count}`);
  if (MINUTES) process.stdout.write(`FUZZ_SEED=${SEED}: ${told.join(', ')}\n`);
  return new Set(counts.keys());
}

/** A shop with a few equal sort keys, stock at both extremes, and a key to be changed and revoked. */
async function openShop(database: Database): Promise<void> {
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
  await database.query(statement("delete from api_keys where id <> 'testadmin000'"), []);
  await database.query(statement(key), []);
}
