import { join } from 'node:path';
import { IS_FULL } from './full';

export const PROJECT = join(__dirname, '..', '..');

/** The start of a command line that runs a TypeScript file with Node: `[...TYPESCRIPT, 'src/main.ts']`. */
export const TYPESCRIPT = [process.execPath, '-r', join(__dirname, 'typescript.cjs')] as const;

/** The command line of a command such as `main` or `app/seed`. The full suite runs the build, as production does. */
export function command(name: string): readonly [program: string, ...args: string[]] {
  return IS_FULL
    ? [process.execPath, join(PROJECT, 'dist', `${name}.js`)]
    : [...TYPESCRIPT, join(PROJECT, 'src', `${name}.ts`)];
}
