import { writeSync } from 'node:fs';
import type { PGliteOptions } from '@electric-sql/pglite';
import type { DiskSpace } from './disk-space';

/** The exit code where the log cannot be written: `EX_IOERR` of `sysexits.h`. */
const CANNOT_WRITE = 74;
/** WASI's numbers, which Emscripten uses, of what a disk may say. */
const REASONS: Record<number, string> = {
  19: 'the disk quota is used up',
  51: 'no room is left on its disk',
  69: 'its file system is read-only',
};

/**
 * The files of the embedded PostgreSQL, in `directory`. A server that cannot write its write-ahead log ends itself (PANIC);
 * PGlite, which has no process to end, would instead spin for ever. So what cannot be written there is first
 * given the reserve, and then ends this process: what has been acknowledged is on the disk, and the next start recovers it.
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

/** Nothing in this process can go on: PostgreSQL waits for the answer to its system call. */
function end(error: unknown): never {
  const { errno } = error as { errno?: number };
  const reason = REASONS[errno ?? 0] ?? `error ${errno}`;
  writeSync(
    2,
    `petstore-gateway: the log of the embedded database could not be written: ${reason}. Everything acknowledged is kept; make room and start again.\n`,
  );
  process.exit(CANNOT_WRITE);
}
