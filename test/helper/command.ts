import { join } from 'node:path';

export const PROJECT = join(__dirname, '..', '..');

/** The start of a command line that runs a TypeScript file with Node. */
export const TYPESCRIPT = [process.execPath, '-r', join(__dirname, 'typescript.cjs')] as const;

/** The command line of a command such as `main` or `app/seed`. */
export function command(name: string): readonly [program: string, ...args: string[]] {
  return [process.execPath, join(PROJECT, 'dist', `${name}.js`)];
}
