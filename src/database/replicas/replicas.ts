import { Server } from '../../postgres/database-server';
import type { ConnectionsOptions } from '../connections/connections';
import type { Session } from '../database';
import { reasonOf } from '../failures';
import { LogPosition } from './log-position';
import { ReadSession } from './read-session';
import { Replica } from './replica';

export interface ReplicasOptions extends Omit<ConnectionsOptions, 'connectMs'> {
  /** `postgresql://…` URLs of the primary and of its streaming replicas. */
  readonly primaryUrl: string;
  readonly urls: readonly string[];
  /** Maximum lag of a replica that is read from, in milliseconds. */
  readonly maxLagMs: number;
  /** Called at startup and once per change; `reason` says why a replica is not read from. Must not throw. */
  onChange(replica: string, isUsed: boolean, reason?: string): void;
}

/** The share of a request's time for connecting to a replica, so that the primary can still respond. */
const CONNECT_SHARE = 0.1;
const MAX_WATCH_MS = 500;
/** How often a replica's position is read within `maxLagMs`. */
const WATCHES_PER_LAG = 10;

/**
 * The replicas of a primary. Those that respond and do not lag too far behind take turns serving reads. Each is removed
 * and re-added automatically, based on its log position, which is read several times a second. If none is usable, reads
 * go to the primary.
 */
export class Replicas {
  private readonly replicas: readonly Replica[];
  private readonly used = new Map<Replica, boolean>();
  private readonly position: LogPosition;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private next = 0;
  /** Reads that failed on a replica and were run on the primary instead. */
  failed = 0;

  private constructor(private readonly options: ReplicasOptions) {
    const { urls, primaryUrl, requestTimeoutMs } = options;
    const connectMs = Math.ceil(requestTimeoutMs * CONNECT_SHARE);
    this.replicas = urls.map((url) => new Replica(url, { ...options, connectMs }));
    this.position = new LogPosition(new Server(primaryUrl), 'primary');
  }

  /** Checks the replicas for the first time, which takes at most a second or two; unreachable ones do no harm. */
  static async open(options: ReplicasOptions): Promise<Replicas> {
    const replicas = new Replicas(options);
    await replicas.watch();
    return replicas;
  }

  /** The state of each replica, for metrics. */
  get states(): readonly { name: string; isUsed: boolean; lagMs: number; answered: number }[] {
    return this.replicas.map((replica) => {
      const { name, lagMs, answered } = replica;
      return { name, lagMs, answered, isUsed: this.isUsable(replica) };
    });
  }

  /**
   * A session for the reads of one operation.
   * @param primary its session on the primary. @param needsPrimary whether a replica might be too old for it.
   */
  session(primary: Session, needsPrimary: boolean | Promise<boolean>): Session {
    const pick = (onPrimary: boolean) => (onPrimary ? undefined : this.pick());
    const replica = needsPrimary instanceof Promise ? needsPrimary.then(pick) : pick(needsPrimary);
    return new ReadSession(primary, replica, () => {
      this.failed += 1;
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await Promise.all([this.position, ...this.replicas].map((each) => each.close()));
  }

  private pick(): Replica | undefined {
    for (let tries = this.replicas.length; tries > 0; tries--) {
      this.next = (this.next + 1) % this.replicas.length;
      const replica = this.replicas[this.next];
      if (replica && this.isUsable(replica)) return replica;
    }
    return undefined;
  }

  private isUsable({ fault, lagMs }: Replica): boolean {
    return fault === undefined && lagMs < this.options.maxLagMs;
  }

  private async watch(): Promise<void> {
    const pause = Math.min(MAX_WATCH_MS, this.options.maxLagMs / WATCHES_PER_LAG);
    const at = performance.now();
    const position = await this.position.read().catch(() => undefined);
    const asked = position === undefined ? [] : this.replicas.map((each) => each.follow({ at, position }));
    const notified = Promise.all(asked).then(() => this.notify());
    if (this.isClosed) return;
    // Scheduled before the replicas respond: one silent replica must not make the others look stale.
    this.timer = setTimeout(() => void this.watch(), pause).unref();
    await notified;
  }

  private notify(): void {
    if (this.isClosed) return;
    for (const replica of this.replicas) {
      const isUsed = this.isUsable(replica);
      if (this.used.get(replica) === isUsed) continue;
      this.used.set(replica, isUsed);
      const reason = isUsed ? undefined : reasonOf(replica.fault ?? 'it is too far behind');
      this.options.onChange(replica.name, isUsed, reason);
    }
  }
}
