import pino, { type Logger } from 'pino';

/** Bytes of log lines that are buffered before a write, and maximum bytes per write. */
const ALONE = { minLength: 64 * 1024, maxWrite: 128 * 1024 };
/** For several processes on one pipe: what POSIX writes atomically (PIPE_BUF), so that lines do not interleave. */
const TOGETHER = { minLength: 4095, maxWrite: 4096 };

const formatters = { level: (level: string) => ({ level }) };

/**
 * JSON lines on standard output (pino). Lines are buffered for at most a second, since a write can cost more than a whole
 * request. pino flushes the buffer when the process exits by itself or on a signal; it is lost if the process is killed.
 * @param writers number of processes that write to the same output.
 */
export function createLogger(level: string, writers = 1): Logger {
  // No buffer, and no timer that would keep a closed application in memory.
  if (level === 'silent') return pino({ level });
  const pieces = writers > 1 ? TOGETHER : ALONE;
  return pino({ level, formatters }, output(pieces));
}

/** Writes a line that must not get lost: at once, and whatever the level of the log. */
export function logAnyway(fields: object, message: string): void {
  pino({ formatters }, process.stdout).info(fields, message);
}

/** Buffers bytes: with text, pino's destination would measure the whole buffer again for every line added. */
function output(pieces: typeof ALONE) {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    periodicFlush: 1000,
    contentMode: 'buffer',
    ...pieces,
  });
  // The types allow only text.
  const { write } = destination as { write(bytes: unknown): boolean };
  return Object.assign(destination, { write: (line: string) => write.call(destination, Buffer.from(line)) });
}
