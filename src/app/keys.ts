import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { environment } from './environment';
import { runKeys } from './keys-command';
import { print, runCommand } from './run-command';

const stdout = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    print(chunk);
    done();
  },
});

runCommand('keys', async () =>
  runKeys(process.argv.slice(2), environment(), new Console({ stdout, ignoreErrors: false })),
);
