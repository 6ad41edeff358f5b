import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PGlite } from '@electric-sql/pglite';
import { reasonOf } from '../failures';
import { CLUSTER } from './data-directory';
import type { Upkeep } from './upkeep';

/** Only who may read the data directory reaches it. */
export const SOCKET = 'socket';

/** The messages on the socket, a line each. */
export type Message = { readonly copy: string } | { readonly label: string } | { readonly error: string };

/**
 * Lets other processes copy the files of an open database while it serves: PostgreSQL's own online backup. Who connects is
 * sent the directory (`copy`) once the copy may begin, answers that its files are copied, is sent the `label` that makes a
 * database of them together with the log, and copies the log before it disconnects.
 */
export class OnlineCopy {
  private readonly server: Server;
  private current: Socket | undefined;

  constructor(
    private readonly engine: PGlite,
    private readonly upkeep: Upkeep,
    private readonly directory: string,
  ) {
    const path = join(directory, SOCKET);
    rmSync(path, { force: true }); // of a process that was killed
    this.server = createServer((socket) => void this.serve(socket));
    // A path may be too long for a socket: then there are copies only of a database that is closed.
    this.server
      .on('error', () => undefined)
      .listen(path)
      .unref();
  }

  stop(): void {
    this.server.close();
    this.current?.destroy();
  }

  private async serve(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    const send = (message: Message) => socket.write(`${JSON.stringify(message)}\n`);
    if (this.current) return void socket.end(`${JSON.stringify({ error: 'another backup is being made' })}\n`);
    this.current = socket;
    const release = this.upkeep.hold();
    try {
      await this.engine.query("select pg_backup_start('backup', true)::text");
      send({ copy: join(this.directory, CLUSTER) });
      const lines = createInterface({ input: socket });
      await new Promise((resolve) => lines.once('line', resolve).once('close', resolve));
      const stopped = await this.engine.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
      send({ label: stopped.rows[0]?.labelfile ?? '' });
      if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
    } catch (error) {
      send({ error: reasonOf(error) });
    } finally {
      socket.destroy();
      release();
      this.current = undefined;
    }
  }
}
