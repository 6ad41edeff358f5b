import pino, { type Logger } from 'pino';

/** Bytes of log lines that are gathered before they are written, and that are written at once. */
const ALONE = { minLength: 64 * 1024, maxWrite: 128 * 1024 };
/** Where several processes write to one pipe: as many as POSIX keeps whole (PIPE_BUF), so that lines stay apart. */
const TOGETHER = { minLength: 4095, maxWrite: 4096 };

/**
 * JSON lines on standard output (pino). Lines are gathered, for a second at most, since a write for each request would cost
 * more than many a request; pino writes what is gathered when the process ends by itself or by a signal, and it is lost when
 * it is killed.
 * @param writers processes that write to the same output.
 */
export function createLogger(level: string, writers = 1): Logger {
  // Nothing to gather, and no timer that would keep an application which has been closed in memory.
  if (level === 'silent') return pino({ level });
  const pieces = writers > 1 ? TOGETHER : ALONE;
  return pino({ level, formatters: { level: (label) => ({ level: label }) } }, output(pieces));
}

/** Gathers bytes. Of text, pino's destination would measure all that it has gathered again with each line that is added. */
function output(pieces: typeof ALONE) {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    periodicFlush: 1000,
    contentMode: 'buffer',
    ...pieces,
  });
  // Its types know of text alone.
  const write = destination.write.bind(destination) as unknown as (bytes: Buffer) => boolean;
  return Object.assign(destination, { write: (line: string) => write(Buffer.from(line)) });
}
