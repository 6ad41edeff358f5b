import type { PGliteOptions } from '@electric-sql/pglite';
import type { DiskSpace } from './disk-space';
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
 */
export function guardedFiles(directory: string, space: DiskSpace): PGliteOptions['fs'] {
  const { NodeFS }: typeof import('@electric-sql/pglite/nodefs') = require('@electric-sql/pglite/nodefs');
  const files = new NodeFS(directory);
  const init = files.init.bind(files);
  files.init = async (engine, options) => {
    const { emscriptenOpts } = await init(engine, options);
    const { preRun = [] } = emscriptenOpts;
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [({ FS }) => guard(FS.filesystems.NODEFS as NodeFiles, space), ...preRun],
      },
    };
  };
  return files;
}

/** The part of Emscripten's file system interface that writes. */
interface NodeFiles {
  readonly stream_ops: {
    write(stream: { readonly path: string }, ...where: readonly unknown[]): number;
  };
}

function guard({ stream_ops }: NodeFiles, space: DiskSpace): void {
  const { write } = stream_ops;
  stream_ops.write = (stream, ...where) => {
    for (;;) {
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
