import { placeOf } from './connection';
import { Connections, type ConnectionsOptions } from './connections';
import type { Sharing, Statement } from './database';
import { LogPosition } from './log-position';

/** Where the primary's log was. `at`: a moment of `performance.now()` before it was asked. */
export interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** More are not kept of a replica that does not catch up. */
const MAX_SAMPLES = 100;

/**
 * A streaming replica, with what is known of how far it is behind. A replica that has replayed the log up to where the
 * primary's was at a moment has everything that was committed before it: no clock but this process's own is needed, and
 * a primary that nobody writes to leaves no replica behind.
 */
export class Replica {
  /** `db.example.org:5432/petstore` */
  readonly name: string;
  /** Statements that it has answered. */
  answered = 0;
  /** Why it did not tell its position when it was last asked. */
  fault: unknown;
  private readonly connections: Connections;
  private readonly position: LogPosition;
  private samples: Sample[] = [];
  private completeUntil = Number.NEGATIVE_INFINITY;
  private isAsked = false;
  private readonly waiting = new Set<(error: unknown) => void>();

  constructor(url: string, options: ConnectionsOptions) {
    this.name = placeOf(url);
    this.connections = new Connections(url, options);
    this.position = LogPosition.ofReplica(url);
  }

  /** For how many milliseconds the primary may have changed without it: an upper bound. */
  get lagMs(): number {
    return performance.now() - this.completeUntil;
  }

  /** Asks it how far it is. One that does not answer lets go of the statements that wait for it. */
  async follow(primary: Sample): Promise<void> {
    this.samples.push(primary);
    if (this.samples.length > MAX_SAMPLES) this.samples.shift();
    if (this.isAsked) return;
    this.isAsked = true;
    try {
      const replayed = await this.position.read();
      const behind = this.samples.findIndex(({ position }) => position > replayed);
      const passed = this.samples.splice(0, behind === -1 ? this.samples.length : behind);
      this.completeUntil = passed.at(-1)?.at ?? this.completeUntil;
      this.fault = undefined;
    } catch (error) {
      this.fault = error;
      for (const letGo of this.waiting) letGo(error);
    } finally {
      this.isAsked = false;
    }
  }

  /** @throws what the driver throws, or why the replica was given up meanwhile. */
  query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      this.waiting.add(reject);
      this.connections
        .query<Row>(statement, values, sharing)
        .then((rows) => {
          this.answered += 1;
          resolve(rows);
        }, reject)
        .finally(() => this.waiting.delete(reject));
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.connections.close(), this.position.close()]);
  }
}
