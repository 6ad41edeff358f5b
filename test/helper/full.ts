/** Whether this is `npm run test:full`. */
export const IS_FULL = process.env.TEST_FULL === 'true';

/** How often a generated test runs: a few times, the same ones, in `npm test`; many, others each time, in the full suite. */
export function runs(few: number, many: number): { numRuns: number; seed?: number } {
  return IS_FULL ? { numRuns: many } : { numRuns: few, seed: 20261122 };
}
