import pino, { type Logger } from 'pino';

/** For a single process: bytes to buffer before a write, and maximum bytes per write. */
const ALONE = { minLength: 64 * 1024, maxWrite: 128 * 1024 };
/** For several processes on one pipe: writes of up to 4096 bytes (PIPE_BUF on Linux) are atomic, so lines stay whole. */
const TOGETHER = { minLength: 4095, maxWrite: 4096 };

const formatters = { level: (level: string) => ({ level }) };

/**
 * Makes a pino logger that writes JSON lines to standard output. It buffers lines for at most a second, since a write can
 * cost more CPU time than a whole request. pino flushes the buffer when the process exits, but not if the process is killed.
 * @param writers number of processes that write to the same output.
 */
export function createLogger(level: string, writers = 1): Logger {
  // A silent logger gets no buffer: the buffer's timer would keep a closed application in memory.
  if (level === 'silent') return pino({ level });
  const pieces = writers > 1 ? TOGETHER : ALONE;
  return pino({ level, formatters }, output(pieces));
}

/** Writes a log line immediately, even if the log level excludes it. Use it for lines that must not get lost. */
export function logAnyway(fields: object, message: string): void {
  pino({ formatters }, process.stdout).info(fields, message);
}

/**
 * Makes a buffered destination that takes bytes. If it took text, pino would measure the whole buffer again for every line.
 */
function output(pieces: typeof ALONE) {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    periodicFlush: 1000,
    contentMode: 'buffer',
    ...pieces,
  });
  // pino's types allow only text, but in the mode `buffer` it takes bytes.
  const { write } = destination as { write(bytes: unknown): boolean };
  return Object.assign(destination, { write: (line: string) => write.call(destination, Buffer.from(line)) });
}
