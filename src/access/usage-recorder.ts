import { randomUUID } from 'node:crypto';
import type { Database, Session } from '../database/database';
import { Deadline } from '../database/deadline';
import { DAY_MS } from '../rate-limit/plans';
import { type Batch, type DailyUsage, dayOf, deleteUsage, readUsage, saveUsage, UsageCounts } from './usage';

export interface RecorderOptions {
  /** Milliseconds of the Unix epoch. */
  now(): number;
  /** Called when saving begins to fail, with the error, and when it works again, without one. */
  onState?(error?: unknown): void;
  /** Interval between saves, in milliseconds: how much a process that is killed loses. */
  readonly every?: number;
}

/** For how many days usage is kept. */
export const KEPT_DAYS = 400;

const FLUSH_MS = 5_000;
/** How long a save may take, in milliseconds: a process that ends must not wait for a database that is gone. */
const PATIENCE_MS = 3_000;

/**
 * Counts what this process lets callers use, and adds it to the sums in the database every few seconds and when it stops,
 * by one statement. What could not be saved is sent again, and counted once.
 */
export class UsageRecorder {
  readonly counts: UsageCounts;
  private readonly process = randomUUID();
  private readonly timer: NodeJS.Timeout;
  /** What is being saved, or could not be. */
  private batch: Batch | undefined;
  private batches = 0;
  private saving: Promise<void> | undefined;
  /** Since when saving has failed, each time. */
  private failingSince: number | undefined;
  private prunedOn = Number.NaN;

  constructor(
    private readonly database: Database,
    private readonly options: RecorderOptions,
  ) {
    this.counts = new UsageCounts(options.now);
    this.timer = setInterval(() => void this.flush(), options.every ?? FLUSH_MS).unref();
  }

  /** For how long nothing could be saved, in milliseconds; 0 if the last save succeeded. */
  get unsavedMs(): number {
    return this.failingSince === undefined ? 0 : this.options.now() - this.failingSince;
  }

  /** Saves what was counted until now. Never rejects. */
  async flush(): Promise<void> {
    // What is being saved now was taken before.
    await this.saving;
    this.saving ??= this.save().finally(() => {
      this.saving = undefined;
    });
    await this.saving;
  }

  /** Saves the rest. What cannot be saved within seconds is lost. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /**
   * What callers used from a day on: all that is saved, and what this process has yet to save.
   * @throws as {@link Session.query}.
   */
  async read(session: Session, callers: readonly string[], since: number): Promise<DailyUsage[]> {
    const isAsked = ({ caller, day }: DailyUsage) => day >= since && callers.includes(caller);
    const unsaved = [
      { number: this.batch?.number ?? 0, rows: this.batch?.rows.filter(isAsked) ?? [] },
      { number: this.batches + 1, rows: [...this.counts.rows()].filter(isAsked) },
    ];
    const { rows, saved } = await readUsage(session, this.process, callers, since);
    return [...rows, ...unsaved.flatMap((batch) => (batch.number > saved ? batch.rows : []))];
  }

  private async save(): Promise<void> {
    try {
      if (this.batch) await this.saveBatch(this.batch);
      const rows = this.counts.take();
      if (rows.length) {
        this.batch = { number: ++this.batches, rows };
        await this.saveBatch(this.batch);
      }
      if (this.failingSince !== undefined) this.options.onState?.();
      this.failingSince = undefined;
      if (rows.length) await this.prune();
    } catch (error) {
      if (this.failingSince === undefined) this.options.onState?.(error);
      this.failingSince ??= this.options.now();
    }
  }

  private async saveBatch(batch: Batch): Promise<void> {
    const session = this.database.sessionFor({ caller: '', deadline: new Deadline(PATIENCE_MS) });
    await saveUsage(session, this.process, batch);
    this.batch = undefined;
  }

  /** Deletes what is too old, once a day. */
  private async prune(): Promise<void> {
    const today = dayOf(this.options.now());
    if (today === this.prunedOn) return;
    await deleteUsage(this.database, new Date((today - KEPT_DAYS) * DAY_MS));
    this.prunedOn = today;
  }
}
