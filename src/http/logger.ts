import pino, { type Logger } from 'pino';
import { LogOutput } from './log-output';

/** For a single process. */
const ALONE = { minLength: 64 * 1024, maxWrite: 128 * 1024 };
/** For several processes on one pipe: writes of up to 4096 bytes (PIPE_BUF on Linux) are atomic, so lines stay whole. */
const TOGETHER = { minLength: 4096, maxWrite: 4096 };

const formatters = { level: (level: string) => ({ level }) };

let output: LogOutput | undefined;

/** The destination of all loggers of this process. */
function standardOutput(writers = 1): LogOutput {
  output ??= new LogOutput(writers > 1 ? TOGETHER : ALONE);
  return output;
}

/**
 * Makes a pino logger that writes JSON lines to standard output. It buffers lines for at most a second, since a write can
 * cost more CPU time than a whole request. The buffer is flushed when the process exits, but not if the process is killed.
 * @param writers number of processes that write to the same output.
 */
export function createLogger(level: string, writers = 1): Logger {
  return level === 'silent' ? pino({ level }) : pino({ level, formatters }, standardOutput(writers));
}

/**
 * Writes a log line immediately, even if the log level excludes it. Use it for lines that must not get lost.
 * @returns whether the line is written. If its reader is slow, it may still be written later.
 */
export function logAnyway(fields: object, message: string): boolean {
  pino({ formatters }, standardOutput()).info(fields, message);
  return standardOutput().flushSync();
}

/** Writes text to standard output, after all lines that were logged before. @returns whether it is written. */
export function printText(text: string): boolean {
  standardOutput().write(text);
  return standardOutput().flushSync();
}

/** Number of log lines of this process that could not be written. */
export function lostLogLines(): number {
  return output?.lost ?? 0;
}
