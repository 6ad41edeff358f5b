/** Ends the process with 1, and one line that says why. */
export function fail(error: unknown): void {
  process.stderr.write(`petstore-gateway: ${messageOf(error)}\n`);
  process.exit(1);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** On the first SIGTERM or SIGINT `finish` ends the process in order, on the second, after `abandon`, it ends at once. */
export function stopOnSignals(finish: () => Promise<void>, abandon = (): void => undefined): void {
  let stopping = false;
  const stop = () => {
    if (stopping) {
      abandon();
      process.exit(1);
    }
    stopping = true;
    finish().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
