/** An error whose message is printed to the user as it is. It may have several lines. */
export class CommandError extends Error {}

/** Runs a command-line tool. On an error, it writes the message to standard error and exits with 1. */
export function runCommand(name: string, run: () => Promise<void>): void {
  run().catch((error: unknown) => {
    process.stderr.write(`${error instanceof CommandError ? error.message.trimEnd() : `${name}: ${lineOf(error)}`}\n`);
    process.exitCode = 1;
  });
}

function lineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  if (!/ is in use by process /.test(line)) return line;
  return `${line.replace(/ Stop it, or .*/, '')} Stop the gateway (Ctrl+C), run this command again, and restart the gateway. Its data is kept.`;
}
