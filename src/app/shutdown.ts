import { complain } from '../http/standard-streams';

/** Writes the error message to standard error, and exits with 1. */
export function fail(error: unknown): void {
  complain(messageOf(error));
  process.exit(1);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A terminal or SSH session that ends sends SIGHUP. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * On the first SIGTERM, SIGINT or SIGHUP, calls `finish` and then exits. On the second signal, calls `abandon` and exits
 * immediately with 1.
 * @param limitMs after this time, the process exits even if `finish` has not ended.
 */
export function stopOnSignals(finish: () => Promise<void>, limitMs: number, abandon = (): void => undefined): void {
  let stopping = false;
  const exitLate = () => {
    complain(`the shutdown took longer than ${limitMs / 1000} s, so the process exits before it is complete.`);
    abandon();
    process.exit(1);
  };
  const stop = () => {
    if (stopping) {
      abandon();
      process.exit(1);
    }
    stopping = true;
    setTimeout(exitLate, limitMs).unref();
    finish().then(() => process.exit(0), fail);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
}
