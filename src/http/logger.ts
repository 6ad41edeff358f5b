import pino, { type Logger } from 'pino';

/** Characters of log lines that are gathered before they are written; they wait a second at most. */
const GATHERED = 4096;

/**
 * JSON lines on standard output (pino). Lines are gathered, since a write for each request would cost more than many a
 * request; what is gathered is written when the process ends by itself or by a signal, and lost when it is killed.
 */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 1, sync: false, minLength: GATHERED, periodicFlush: 1000 });
  process.on('exit', () => {
    try {
      destination.flushSync();
    } catch {
      // Standard output is closed: there is nobody left to tell.
    }
  });
  return pino({ level, formatters: { level: (label) => ({ level: label }) } }, destination);
}
