import { writeSync } from 'node:fs';

/** Writes a line to standard error before the process ends. If that is impossible, the line is lost. */
export function writeLastLine(message: string): void {
  try {
    writeSync(2, `petstore-gateway: ${message}\n`);
  } catch {}
}
