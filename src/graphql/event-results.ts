import type { Session } from '../database/database';
import { Deadline, Ended } from '../database/deadline';
import type { Visibility } from '../database/visibility';
import { TooSlow } from '../events/event-queue';
import { Loaders } from './context';

/** The session and data loaders that computations for an event share, so that related rows are read only once. */
export interface EventReads {
  readonly session: Session;
  readonly loaders: Loaders;
}

/** A result that one subscriber waits for. */
export interface Computation<Result> {
  readonly result: Promise<Result>;
  /** To be called at most once, when the subscriber leaves. */
  leave(): void;
}

/** The work that one subscriber needs for an event. */
interface EventWork<Result> {
  /** Identifies the work. Subscribers with the same work get the same result. */
  readonly key: string;
  readonly callerId: string;
  /** The rows that the subscriber sees. Only subscribers that see the same rows share a session and loaders. */
  readonly visibility: Visibility;
  /**
   * Waits in the caller's operation queue. @returns a promise if the work must wait.
   * @throws Ended if the deadline ends first.
   */
  enterQueue(deadline: Deadline): unknown;
  compute(reads: EventReads): Promise<Result>;
}

type OpenSession = (visibility: Visibility) => Session;

/** Computations that started within this time share their session, in milliseconds. Later ones get its full time limit. */
const SHARED_MS = 1_000;

/**
 * Computes the response to an event once for all subscribers that need the same response. Work that waits in a caller's queue
 * is shared only by the subscribers of this caller. The work that leaves its queue first computes the result for all.
 * Computations run in sessions of the service, so a caller's errors and delays do not reach other callers. A result is kept
 * as long as the event object, which is freed when the last subscriber has read it.
 */
export class EventResults<Result> {
  private readonly events = new WeakMap<object, ResultsOfEvent<Result>>();

  /**
   * @param open returns a session of the service that sees these rows.
   * @param waitMs how long work may wait in its caller's queue, in milliseconds.
   */
  constructor(
    private readonly open: OpenSession,
    private readonly waitMs: number,
  ) {}

  /** @throws the result rejects with TooSlow if the work waits too long, and with errors of `compute`. */
  resultFor(event: object, work: EventWork<Result>): Computation<Result> {
    let results = this.events.get(event);
    if (!results) {
      results = new ResultsOfEvent(this.open, this.waitMs);
      this.events.set(event, results);
    }
    return results.find(work);
  }
}

class ResultsOfEvent<Result> {
  /** Results that are computed or have been computed, by the key of their work. */
  private readonly started = new Map<string, SharedResult<Result>>();
  /** Work that waits in its caller's queue, by caller and key. */
  private readonly waiting = new Map<string, SharedResult<Result>>();
  /** By the visible rows, as JSON. */
  private readonly reads = new Map<string, SharedReads>();

  constructor(
    private readonly open: OpenSession,
    private readonly waitMs: number,
  ) {}

  find(work: EventWork<Result>): Computation<Result> {
    const name = `${work.key} ${work.callerId}`;
    const known = this.started.get(work.key) ?? this.waiting.get(name);
    if (known) return known.join();
    const deadline = new Deadline(this.waitMs);
    const entered = work.enterQueue(deadline);
    return entered instanceof Promise ? this.wait(name, entered, deadline, work) : this.start(work);
  }

  private wait(name: string, entered: Promise<unknown>, deadline: Deadline, work: EventWork<Result>) {
    let computation: Computation<Result> | undefined;
    const onEntered = () => {
      forget();
      computation = this.started.get(work.key)?.join() ?? this.start(work);
      return computation.result;
    };
    const onProblem = (problem: unknown) => {
      forget();
      throw problem instanceof Ended ? new TooSlow() : problem;
    };
    const forget = () => {
      if (this.waiting.get(name) === shared) this.waiting.delete(name);
    };
    const shared: SharedResult<Result> = new SharedResult(
      entered.then(onEntered, onProblem),
      () => undefined,
      () => {
        forget();
        deadline.end();
        computation?.leave();
      },
    );
    this.waiting.set(name, shared);
    return shared.join();
  }

  private start({ key, visibility, compute }: EventWork<Result>): Computation<Result> {
    const rows = JSON.stringify(visibility);
    const known = this.reads.get(rows);
    const reads = known?.mayBeShared ? known : new SharedReads(this.open(visibility));
    this.reads.set(rows, reads);
    const shared = new SharedResult(
      compute(reads),
      () => reads.remove(shared),
      () => {
        this.started.delete(key);
        reads.cancelUnwanted();
      },
    );
    reads.add(shared);
    this.started.set(key, shared);
    return shared.join();
  }
}

/** A result, and the number of subscribers that wait for it. */
class SharedResult<Result> {
  waiting = 0;
  private isDone = false;

  /** @param onAbandoned called when the last subscriber leaves before the result is there. */
  constructor(
    private readonly result: Promise<Result>,
    onDone: () => void,
    private readonly onAbandoned: () => void,
  ) {
    const done = () => {
      this.isDone = true;
      onDone();
    };
    result.then(done, done);
  }

  join(): Computation<Result> {
    this.waiting++;
    const leave = () => {
      this.waiting--;
      if (!this.waiting && !this.isDone) this.onAbandoned();
    };
    return { result: this.result, leave };
  }
}

class SharedReads implements EventReads {
  readonly loaders = new Loaders(true);
  private readonly openedAt = performance.now();
  /** The computations that use the session. */
  private readonly unfinished = new Set<{ readonly waiting: number }>();

  constructor(readonly session: Session) {}

  get mayBeShared(): boolean {
    return !this.session.requester.deadline.reason && performance.now() - this.openedAt < SHARED_MS;
  }

  add(computation: { readonly waiting: number }): void {
    this.unfinished.add(computation);
  }

  remove(computation: { readonly waiting: number }): void {
    this.unfinished.delete(computation);
    this.cancelUnwanted();
  }

  /** Cancels the unfinished computations if no subscriber waits for any of them. */
  cancelUnwanted(): void {
    if (!this.unfinished.size) return;
    for (const { waiting } of this.unfinished) if (waiting) return;
    this.session.requester.deadline.end();
  }
}
