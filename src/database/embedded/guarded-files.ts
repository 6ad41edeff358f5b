import type { PGliteOptions } from '@electric-sql/pglite';
import { exitWithoutLock, isHeld } from './lock-proof';
import { writeLastLine } from './standard-error';

/** The exit code if the files of the database cannot be written: `EX_IOERR` of `sysexits.h`. */
const CANNOT_WRITE = 74;
/** Reasons for failed writes, by error number. Emscripten uses the error numbers of WASI. */
const REASONS: Record<number, string> = {
  2: 'the permission is denied',
  19: 'the disk quota is exceeded',
  22: 'a file is larger than the operating system allows',
  29: 'its disk reports an input/output error',
  51: 'no space is left on its disk',
  63: 'the operation is not permitted',
  69: 'its file system is read-only',
};

/**
 * The file system of the embedded PostgreSQL, in `directory`. A PostgreSQL server that cannot write its write-ahead log ends
 * itself (PANIC). PGlite has no process to end, and would loop forever, with its port open. So the guard ends this process
 * when the database cannot write any of its files. Acknowledged commits are on the disk, and the next start recovers them.
 *
 * Before each change to the files, the guard checks that this process still holds the lock of the data directory.
 * @param proof see `DirectoryLock`.
 */
export async function guardedFiles(directory: string, proof: string): Promise<PGliteOptions['fs']> {
  const { NodeFS } = (await import(
    '@electric-sql/pglite/nodefs'
  )) as object as typeof import('@electric-sql/pglite/nodefs');
  const files = new NodeFS(directory);
  const init = files.init.bind(files);
  files.init = async (engine, options) => {
    const { emscriptenOpts } = await init(engine, options);
    const { preRun = [] } = emscriptenOpts;
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [({ FS }) => guard(FS.filesystems.NODEFS as NodeFiles, proof), ...preRun],
      },
    };
  };
  return files;
}

type Operation = (...given: readonly unknown[]) => unknown;

/** Emscripten's file system interface. */
interface NodeFiles {
  readonly stream_ops: Record<string, Operation>;
  readonly node_ops: Record<string, Operation>;
}

/** The operations that change the disk. `setattr` also changes the length of a file; `open` may create a file. */
const CHANGES = ['write', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink', 'setattr', 'open'];

function guard({ stream_ops, node_ops }: NodeFiles, proof: string): void {
  for (const name of CHANGES) {
    const operations = name in stream_ops ? stream_ops : node_ops;
    const change = operations[name];
    if (!change) throw new Error(`PGlite's file system has no operation ${name}.`);
    operations[name] = (...given) => {
      if (name !== 'open' && !isHeld(proof)) exitWithoutLock(proof);
      try {
        return change(...given);
      } catch (error) {
        const { errno = 0 } = error as { errno?: number };
        // PostgreSQL handles other errors, such as files that do not exist. It must not handle any error of a write.
        if (name === 'write' || errno in REASONS) end(errno);
        // The whole directory may be gone.
        if (!isHeld(proof)) exitWithoutLock(proof);
        throw error;
      }
    };
  }
}

/** The reason of a failed file operation of PGlite; `undefined` if the error has another cause. */
export function fileFailureOf(error: unknown): string | undefined {
  return REASONS[(error as { errno?: number }).errno ?? 0];
}

/**
 * Exits synchronously, since PostgreSQL blocks this thread until its system call returns. In the worker, `process.exit` ends
 * only the worker; `DatabaseThread` then ends the process.
 */
function end(errno: number): never {
  const reason = REASONS[errno] ?? `error ${errno}`;
  writeLastLine(
    `the files of the embedded database cannot be written: ${reason}. All acknowledged writes are kept. Make sure that DATA_DIR is writable and its disk has free space, then start again.`,
  );
  process.exit(CANNOT_WRITE);
}
