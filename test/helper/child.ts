import * as process from './process';

/** @deprecated Use `runTypeScript` of `process.ts`. */
export function runTypeScript(...args: Parameters<typeof process.runTypeScript>) {
  const { ended } = process.runTypeScript(...args);
  return { end: () => ended };
}
