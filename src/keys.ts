import { CommandError } from './cli/gateway-client';
import { runKeys } from './cli/keys-command';
import { environment } from './environment';

runKeys(process.argv.slice(2), environment()).then(
  (output) => process.stdout.write(output),
  (error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message.trimEnd()}\n`);
    process.exitCode = 1;
  },
);
