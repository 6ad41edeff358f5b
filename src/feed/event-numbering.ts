import { lock } from '../database/advisory-locks';
import type { Database } from '../database/database';
import { statement } from '../database/statement';

/** The number of events numbered in one transaction. It is bounded, so that other instances do not wait long for the lock. */
const BATCH = 5_000;

// The ids of an object's events are in the order of these events, since each id is assigned while the object is locked. The ids
// are collected in an array. The planner then finds each event by its id, regardless of the number of ids that it estimates.
const NUMBER = statement(`with numbered as (
  update events set position = last_event.position + new.number
  from last_event, unnest(array(select id from events where position is null order by id limit ${BATCH}))
    with ordinality as new(id, number)
  where events.id = new.id
  returning events.position, events.id, events.at
), newest as (
  select position, id, at from numbered order by position desc limit 1
), moved as (
  update last_event set position = newest.position, id = newest.id, at = newest.at from newest
)
select count(*)::int as count, coalesce((select position from newest), (select position from last_event)) as position
from numbered`);

/**
 * Interval between searches for new events while no client reads the feed, in milliseconds. The next reader then waits only
 * briefly.
 */
const IDLE_MS = 10_000;

const STATE = statement(
  'select position, exists (select from events where position is null) as "isAnyNew" from last_event',
);

/**
 * Assigns positions to committed events. The ids of events are not in the order of their commits. A reader that followed the
 * ids would miss an event that is committed after an event with a higher id. Positions are assigned after the commit, by one
 * transaction at a time across all instances. So no event gets a position that a reader has already passed, and nothing waits
 * for transactions that are still open.
 */
export class EventNumbering {
  /** The last position, as of this instance's latest search for new events. */
  position = 0n;
  private running: Promise<void> | undefined;
  /** Starts when `running` has ended. */
  private next: Promise<void> | undefined;

  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  /** Looks for new events regularly, until {@link stop}. */
  start(everyMs = IDLE_MS): void {
    // A failure is reported to the readers that need the positions.
    this.timer = setInterval(() => this.run().catch(() => undefined), everyMs).unref();
  }

  /** Numbers all events that were committed before the call, by this or another instance. Concurrent calls share their work. */
  run(): Promise<void> {
    if (!this.running) return this.next ?? this.begin();
    // The transaction that is running may have looked for events before this call.
    this.next ??= this.running.then(
      () => this.begin(),
      () => this.begin(),
    );
    return this.next;
  }

  /** Waits for a running numbering. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running?.catch(() => undefined);
  }

  private begin(): Promise<void> {
    this.next = undefined;
    const started = this.numberAll().finally(() => {
      if (this.running === started) this.running = undefined;
    });
    this.running = started;
    return started;
  }

  private async numberAll(): Promise<void> {
    const session = this.database.serviceSession();
    const [state] = await session.query<{ position: bigint; isAnyNew: boolean }>(STATE, [], true);
    if (!state) return;
    this.position = state.position;
    if (state.isAnyNew) while ((await this.numberBatch()) === BATCH);
  }

  private numberBatch(): Promise<number> {
    return this.database.serviceSession().transaction(async (transaction) => {
      // A separate statement: the snapshot of the next statement must be taken after the lock.
      await lock(transaction, 'numbering');
      const [numbered] = await transaction.query<{ count: number; position: bigint }>(NUMBER, []);
      if (!numbered) return 0;
      this.position = numbered.position;
      return numbered.count;
    });
  }
}
