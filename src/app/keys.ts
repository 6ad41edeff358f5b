import { environment } from './environment';
import { runKeys } from './keys-command';
import { runCommand } from './run-command';

runCommand('keys', () => runKeys(process.argv.slice(2), environment()));
