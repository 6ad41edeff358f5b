/** Locks the directory given as its first argument, says so, and holds it until terminated. */
import { lockDirectory } from '../../../src/database/embedded/directory-lock';

try {
  const unlock = lockDirectory(process.argv[2] ?? '');
  process.stdout.write('locked\n');
  process.on('SIGTERM', () => {
    unlock();
    process.exit(0);
  });
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stderr.write((error as Error).message);
  process.exitCode = 1;
}
