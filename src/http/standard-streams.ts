import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * A file descriptor for standard output (1) or standard error (2). If it is a pipe, a socket or a terminal that is not read,
 * a write fails with EAGAIN instead of waiting. A waiting write would block the process, even its exit.
 */
export function openNonBlocking(fd: 1 | 2): number {
  // Reading the property makes Node.js create the stream, which sets O_NONBLOCK on pipes and sockets.
  if (fd === 1) process.stdout;
  else process.stderr;
  if (!isatty(fd) && !fstatSync(fd).isFIFO()) return fd;
  try {
    // Other processes share the flags of `fd`, and Node.js resets them when it exits. This descriptor has flags of its own.
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd; // not Linux, or the pipe belongs to another user
  }
}

// Opened when this module is loaded, so that Node.js itself cannot block on its warnings either.
const standardError = openNonBlocking(2);

/** Writes a line to standard error. If that is impossible, the line is lost: nothing else can report it. */
export function complain(message: string): void {
  try {
    writeSync(standardError, `petstore-gateway: ${message}\n`);
  } catch {}
}
