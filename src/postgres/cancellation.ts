import type { ClientBase, Pool } from 'pg';

/** How statements are cancelled on the server. */
export interface Cancellation {
  /** Whether one that was answered reaches nothing that runs on the connection later: it may then be used again. */
  readonly isOver: boolean;
  /** Called first with each connection. */
  opened(client: ClientBase): Promise<void>;
  /** @returns whether something was running on the connection; if so, it may not have ended yet. */
  cancel(client: ClientBase): Promise<boolean>;
}

const CANCEL =
  "select pid, pg_cancel_backend(pid) from pg_stat_activity where pid = any($1::int[]) and state = 'active'";

interface Batch {
  readonly pids: (number | undefined)[];
  readonly cancelled: Promise<ReadonlySet<number>>;
}

/** Cancels by the number of the server's process: those that come while the server is asked are asked for together. */
export class BackendCancellation implements Cancellation {
  readonly isOver = true;
  private readonly backends = new WeakMap<ClientBase, number>();
  private next: Batch | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** @param control the connection on which the server is asked. */
  constructor(private readonly control: Pool) {}

  async opened(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (rows[0]) this.backends.set(client, rows[0].pid);
  }

  async cancel(client: ClientBase): Promise<boolean> {
    const pid = this.backends.get(client);
    this.next ??= this.batch();
    this.next.pids.push(pid);
    const cancelled = await this.next.cancelled;
    return pid !== undefined && cancelled.has(pid);
  }

  private batch(): Batch {
    const pids: (number | undefined)[] = [];
    const cancelled = this.last.then(async () => {
      this.next = undefined;
      const { rows } = await this.control.query<{ pid: number }>(CANCEL, [pids]);
      return new Set(rows.map(({ pid }) => pid));
    });
    this.last = cancelled.catch(() => undefined);
    return { pids, cancelled };
  }
}
