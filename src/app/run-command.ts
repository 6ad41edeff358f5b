import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** An error whose message is printed to the user as it is. It may have several lines. */
export class CommandError extends Error {}

/** Runs a command-line tool. On an error, it writes the message to standard error and exits with 1. */
export function runCommand(name: string, run: () => Promise<void>): void {
  run().catch((error: unknown) => {
    process.exitCode = 1;
    const message = error instanceof CommandError ? error.message.trimEnd() : `${name}: ${lineOf(error)}`;
    tryToWrite(2, `${message}\n`);
  });
}

function lineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  if (!/ is in use by /.test(line)) return line;
  return `${line.replace(/ Stop it, or .*/, '')} Stop the gateway (Ctrl+C), run this command again, and restart the gateway. Its data is kept.`;
}

/**
 * Writes a result to standard output. A reader that stops reading (`| head`) is not an error.
 * @returns whether a reader is left.
 * @throws Error if the result cannot be written, as on a full disk.
 */
export function print(data: string | Uint8Array): boolean {
  let rest: Uint8Array = Buffer.from(data);
  while (rest.length)
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return false;
      if (code !== 'EAGAIN') throw new Error(`the result could not be written: ${message}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  return true;
}

/** Shows progress on standard error if it is a terminal. */
export function showStatus(text: string): void {
  if (isatty(2)) tryToWrite(2, text);
}

function tryToWrite(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {}
}
