/** Whether the full suite runs (`npm run test:full`). */
export const IS_FULL = process.env.TEST_FULL === 'true';

/** The number of runs of a property test: few with a fixed seed in `npm test`, many with random seeds in the full suite. */
export function runs(few: number, many: number): { numRuns: number; seed?: number } {
  return IS_FULL ? { numRuns: many } : { numRuns: few, seed: 20261122 };
}
