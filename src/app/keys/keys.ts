import { environment } from '../environment';
import { CommandError } from './gateway-client';
import { runKeys } from './keys-command';

runKeys(process.argv.slice(2), environment()).then(
  (output) => process.stdout.write(output),
  (error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message.trimEnd()}\n`);
    process.exitCode = 1;
  },
);
