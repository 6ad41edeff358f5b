/** The worker thread of the embedded database. PGlite blocks its thread while a statement runs. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { reasonOf } from '../failures';
import { openCluster, startInMemory } from './cluster';
import type { ConnectionState } from './connection-state';
import { DiskSpace } from './disk-space';
import { exitWithoutLock, isHeld } from './lock-proof';
import { Multiplexer } from './multiplexer';
import { STARTUP } from './protocol';

export interface WorkerOptions {
  /** A data directory with the proof of its lock, or the image of a cluster to be opened in memory. */
  readonly files: { readonly directory: string; readonly proof: string } | { readonly image: string };
  /** How long a transaction may wait for its client, in milliseconds. */
  readonly idleMs: number;
}

/** A message to the worker: a new connection, or `undefined` to close the database. */
export type WorkerRequest = { readonly port: MessagePort; readonly state: ConnectionState } | undefined;

/** A message from the worker. It says that the database is open, or why the database could not be opened or has failed. */
export type WorkerReport = { readonly isOpen: true } | { readonly failure: string };

const main = parentPort as MessagePort;
const report = (message: WorkerReport) => main.postMessage(message);

const options = workerData as WorkerOptions;

function fail(error: unknown): void {
  // Without its lock, the directory may belong to another process, or not exist.
  if ('proof' in options.files && !isHeld(options.files.proof)) exitWithoutLock(options.files.proof);
  report({ failure: reasonOf(error) });
  process.exit(1);
}

/**
 * Returns a function that checks the disk. When the disk becomes full, or has space again, the function returns SQL that
 * forbids or allows writes.
 */
function diskGuard(space: DiskSpace): () => string | undefined {
  let isFull = false;
  return () => {
    if (space.isEnough() !== isFull) return undefined;
    isFull = !isFull;
    return `set default_transaction_read_only to ${isFull}`;
  };
}

/** The server's response to a startup message. The multiplexer sends this response to every client. */
async function greetingOf(engine: PGlite): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  await engine.execProtocolRawStream(STARTUP, { onRawData: (part) => parts.push(part.slice()) });
  return Buffer.concat(parts);
}

async function serve({ files, idleMs }: WorkerOptions): Promise<void> {
  const space = 'directory' in files ? new DiskSpace(files.directory) : undefined;
  const engine = await ('directory' in files
    ? openCluster(files.directory, space as DiskSpace, files.proof)
    : startInMemory(files.image));
  const guard = space ? diskGuard(space) : () => undefined;
  const multiplexer = new Multiplexer(engine, await greetingOf(engine), idleMs, guard, fail);
  main.on('message', (request: WorkerRequest) => {
    if (request) multiplexer.connect(request.port, request.state);
    else engine.close().then(() => process.exit(0), fail);
  });
  report({ isOpen: true });
}

serve(options).catch(fail);
