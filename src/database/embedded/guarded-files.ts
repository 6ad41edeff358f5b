import type { PGliteOptions } from '@electric-sql/pglite';
import type { DiskSpace } from './disk-space';
import { exitWithoutLock, isHeld } from './lock-proof';
import { writeLastLine } from './standard-error';

/** The exit code if the write-ahead log cannot be written: `EX_IOERR` of `sysexits.h`. */
const CANNOT_WRITE = 74;
/** Reasons for failed writes, by error number. Emscripten uses the error numbers of WASI. */
const REASONS: Record<number, string> = {
  19: 'the disk quota is exceeded',
  51: 'no space is left on its disk',
  69: 'its file system is read-only',
};

/**
 * The file system of the embedded PostgreSQL, in `directory`. A PostgreSQL server that cannot write its write-ahead log ends
 * itself (PANIC). PGlite has no process to end, and would loop forever. So after a failed write to the log, the guard frees
 * the disk reserve and repeats the write. If that fails, too, the guard ends this process. Acknowledged commits are on the
 * disk, and the next start recovers them.
 *
 * Before each change to the files, the guard checks that this process still holds the lock of the data directory.
 * @param proof see `DirectoryLock`.
 */
export function guardedFiles(directory: string, space: DiskSpace, proof: string): PGliteOptions['fs'] {
  const { NodeFS }: typeof import('@electric-sql/pglite/nodefs') = require('@electric-sql/pglite/nodefs');
  const files = new NodeFS(directory);
  const init = files.init.bind(files);
  files.init = async (engine, options) => {
    const { emscriptenOpts } = await init(engine, options);
    const { preRun = [] } = emscriptenOpts;
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [({ FS }) => guard(FS.filesystems.NODEFS as NodeFiles, space, proof), ...preRun],
      },
    };
  };
  return files;
}

/** Emscripten's file system interface. */
interface NodeFiles {
  readonly stream_ops: {
    write(stream: { readonly path: string }, ...where: readonly unknown[]): number;
  };
  readonly node_ops: Record<string, (...args: readonly unknown[]) => unknown>;
}

/** The other operations that change the disk. `setattr` also changes the length of a file. */
const CHANGES = ['mknod', 'rename', 'unlink', 'rmdir', 'symlink', 'setattr'];

function guard({ stream_ops, node_ops }: NodeFiles, space: DiskSpace, proof: string): void {
  const requireLock = () => {
    if (!isHeld(proof)) exitWithoutLock(proof);
  };
  for (const name of CHANGES) {
    const change = node_ops[name];
    if (!change) throw new Error(`PGlite's file system has no operation ${name}.`);
    node_ops[name] = (...args) => {
      requireLock();
      return change(...args);
    };
  }
  const { write } = stream_ops;
  stream_ops.write = (stream, ...where) => {
    for (;;) {
      requireLock();
      try {
        return write(stream, ...where);
      } catch (error) {
        if (!stream.path.includes('/pg_wal/')) throw error;
        if (!space.release()) end(error);
      }
    }
  };
}

/**
 * Exits synchronously, since PostgreSQL blocks this thread until its system call returns. In the worker, `process.exit` ends
 * only the worker; `EmbeddedServer` then ends the process.
 */
function end(error: unknown): never {
  const { errno } = error as { errno?: number };
  const reason = REASONS[errno ?? 0] ?? `error ${errno}`;
  writeLastLine(
    `the log of the embedded database could not be written: ${reason}. All acknowledged writes are kept. Make sure that the disk is writable and has free space, then start again.`,
  );
  process.exit(CANNOT_WRITE);
}
