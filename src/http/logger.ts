import pino, { type Logger } from 'pino';

/** Bytes of log lines that are gathered before they are written; they wait a second at most. */
const GATHERED = 64 * 1024;

/**
 * JSON lines on standard output (pino). Lines are gathered, since a write for each request would cost more than many a
 * request; pino writes what is gathered when the process ends by itself or by a signal, and it is lost when it is killed.
 */
export function createLogger(level: string): Logger {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: GATHERED,
    maxWrite: 2 * GATHERED,
    periodicFlush: 1000,
  });
  return pino({ level, formatters: { level: (label) => ({ level: label }) } }, destination);
}
