import { Server } from '../../postgres/database-server';
import { findPooler } from '../../postgres/pooler';
import { Connections, type ConnectionsOptions } from '../connections/connections';
import type { Work } from '../work/deadline';
import type { Command } from '../work/engine';
import { LogPosition } from './log-position';

/** The primary's log position. `at`: a `performance.now()` timestamp taken before it was queried. */
export interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** Maximum number of samples kept while a replica does not catch up. */
const MAX_SAMPLES = 100;

/**
 * A streaming replica and its known lag. A replica that has replayed the log up to the primary's position at a given
 * time has everything committed before that time: this needs no clock but this process's own, and a primary without
 * writes leaves no replica behind.
 */
export class Replica {
  /** `db.example.org:5432/petstore` */
  readonly name: string;
  /** Number of statements it has executed. */
  answered = 0;
  /** Why the last attempt to read its position failed. */
  fault: unknown;
  private readonly server: Server;
  /** Opened when it first responds. */
  private connections: Connections | undefined;
  private readonly position: LogPosition;
  private samples: Sample[] = [];
  private completeUntil = Number.NEGATIVE_INFINITY;
  private isAsked = false;
  private readonly waiting = new Set<(error: unknown) => void>();

  constructor(
    url: string,
    private readonly options: ConnectionsOptions,
  ) {
    this.server = new Server(url);
    this.name = this.server.place;
    this.position = new LogPosition(this.server, 'replica');
  }

  /** Upper bound for how many milliseconds it lags behind the primary. */
  get lagMs(): number {
    return performance.now() - this.completeUntil;
  }

  /** Reads its log position. On failure all statements waiting for it are rejected. */
  async follow(primary: Sample): Promise<void> {
    this.samples.push(primary);
    if (this.samples.length > MAX_SAMPLES) this.samples.shift();
    if (this.isAsked) return;
    this.isAsked = true;
    try {
      const replayed = await this.position.read();
      this.connections ??= new Connections(this.server, this.options, await findPooler(this.server));
      const behind = this.samples.findIndex(({ position }) => position > replayed);
      const passed = this.samples.splice(0, behind === -1 ? this.samples.length : behind);
      this.completeUntil = passed.at(-1)?.at ?? this.completeUntil;
      this.fault = undefined;
    } catch (error) {
      this.fault = error;
      for (const reject of this.waiting) reject(error);
    } finally {
      this.isAsked = false;
    }
  }

  /** @throws the driver's error, or the reason why the replica was given up in the meantime. */
  query<Row>(work: Work, command: Command<Row>): Promise<Row[]> {
    return new Promise<Row[]>((resolve, reject) => {
      this.waiting.add(reject);
      (this.connections as Connections)
        .run(work, command)
        .then((rows) => {
          this.answered += 1;
          resolve(rows);
        }, reject)
        .finally(() => this.waiting.delete(reject));
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.connections?.close(), this.position.close()]);
  }
}
