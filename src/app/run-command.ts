/** Runs a command of the shell. If it fails, it writes one line to standard error and exits with 1. */
export function runCommand(name: string, run: () => Promise<void>): void {
  run().catch((error: unknown) => {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    const line = / is in use by process /.test(message)
      ? `${message.replace(/ Stop it, or .*/, '')} Stop the gateway (Ctrl+C), run this again, and start it again: its data stay.`
      : message;
    process.stderr.write(`${name}: ${line}\n`);
    process.exitCode = 1;
  });
}
