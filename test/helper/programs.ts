import { existsSync } from 'node:fs';
import { IS_FULL } from './full';

/**
 * The first of these paths that exists. Tests that need the program are skipped if it is not installed, except in CI.
 * @throws Error in the full suite with `CI=true`, if the program is not installed
 */
export function findProgram(name: string, paths: readonly (string | undefined)[]): string | undefined {
  const found = paths.find((path) => path && existsSync(path));
  if (!found && IS_FULL && process.env.CI === 'true')
    throw new Error(`${name} is not installed, and CI skips no tests`);
  return found;
}
