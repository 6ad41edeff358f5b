import type { FormattedExecutionResult } from 'graphql';
import type { Session } from '../database/database';
import { Deadline, Ended } from '../database/deadline';
import type { Visibility } from '../database/visibility';
import { ProblemError } from '../errors/errors';
import { TooSlow } from '../events/hub';
import { Loaders } from './context';
import type { StabilityLevel } from './directives';
import { type Outcome, type ResponseContext, rejectOperation } from './outcome';

/** A result that one subscriber waits for. */
export interface Computation<Result> {
  readonly result: Promise<Result>;
  /** To be called at most once, when the subscriber leaves. */
  leave(): void;
}

type Step = IteratorResult<FormattedExecutionResult, undefined>;

/** A subscription that has started, or the response to any other operation. */
export type LiveResult = RunningSubscription | Outcome;

/** Starts an operation. @param onEnd to be called when a started subscription ends. */
export type StartLive = (onEnd: (ended: RunningSubscription) => void) => Promise<LiveResult>;

const OVER: Step = { value: undefined, done: true };

/**
 * Iterates over the responses to the events of a running subscription. If the gateway ends the subscription, the last response
 * is an error with the reason.
 */
export class RunningSubscription implements AsyncIterableIterator<FormattedExecutionResult> {
  private isOver = false;
  private endReason: unknown;
  /** Set while the subscription is paused. `resume` settles `ended`. */
  private pausing: { readonly ended: Promise<void>; resume(): void } | undefined;
  /** The response to the current event, while it is being computed. */
  private computation: Computation<FormattedExecutionResult | undefined> | undefined;

  constructor(
    private readonly events: AsyncIterator<object>,
    /** Computes the response to an event; `undefined` for an event that is not reported. */
    private readonly respondTo: (event: object) => Computation<FormattedExecutionResult | undefined>,
    private readonly context: ResponseContext,
    /** Called exactly once, when the subscription ends. */
    private readonly onEnd: (ended: RunningSubscription) => void,
  ) {}

  get stability(): StabilityLevel | undefined {
    return this.context.stability;
  }

  /** Ends the subscription. @param problem the reason, reported to the subscriber. */
  end(problem: unknown): void {
    if (this.isOver) return;
    this.endReason = problem;
    this.resume();
    void this.events.return?.();
  }

  /** Delays events until {@link resume}. Called while it is unknown whether the subscriber may receive them. */
  pause(): void {
    if (this.pausing || this.isOver) return;
    let resume = () => {};
    const ended = new Promise<void>((resolve) => {
      resume = resolve;
    });
    this.pausing = { ended, resume };
  }

  resume(): void {
    this.pausing?.resume();
    this.pausing = undefined;
  }

  async next(): Promise<Step> {
    if (this.isOver) return OVER;
    try {
      for (;;) {
        const { value, done } = await this.events.next();
        if (done || this.isOver) break;
        this.computation = this.respondTo(value);
        const response = await this.computation.result;
        while (this.pausing) await this.pausing.ended;
        if (this.isOver || this.endReason !== undefined) break;
        if (response) return { value: response, done: false };
      }
    } catch (error) {
      this.endReason ??= error instanceof TooSlow ? tooSlow() : error;
    }
    // The subscription has ended in the meantime. An error is discarded, since no client is there to receive it.
    if (this.isOver) return OVER;
    this.finish();
    void this.events.return?.();
    return this.endReason === undefined
      ? OVER
      : { value: rejectOperation(this.endReason, this.context).body, done: false };
  }

  async return(): Promise<Step> {
    this.finish();
    this.computation?.leave();
    this.computation = undefined;
    await this.events.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.resume();
    this.onEnd(this);
  }
}

/** The client reads too slowly, or the cost allowance of its caller delays the events. */
function tooSlow(): ProblemError {
  const message = 'The subscription fell too far behind the events. Subscribe again and reload the data.';
  return new ProblemError('SERVICE_UNAVAILABLE', message);
}

/** The session and data loaders that computations for an event share, so that related rows are read only once. */
export interface EventReads {
  readonly session: Session;
  readonly loaders: Loaders;
}

/** The work that one subscriber needs for an event. */
interface EventWork<Result> {
  /** Identifies the work. Subscribers with the same work get the same result. */
  readonly key: string;
  readonly callerId: string;
  /** The rows that the subscriber sees. Only subscribers that see the same rows share a session and loaders. */
  readonly visibility: Visibility;
  /**
   * Waits in the caller's operation queue, for its cost allowance. @returns a promise if the work must wait.
   * @throws Ended if the deadline ends first.
   */
  waitToCompute(deadline: Deadline): unknown;
  compute(reads: EventReads): Promise<Result>;
}

type OpenSession = (visibility: Visibility) => Session;

/**
 * Computations that start within this time share a session, in milliseconds. A later computation gets a new session with the full
 * time limit.
 */
const SHARED_MS = 1_000;

/**
 * Computes the response to an event once for all subscribers that need the same response. Work that waits in a caller's queue is
 * shared only by the subscribers of this caller. The work that leaves its queue first computes the result for all. Computations
 * run in sessions that belong to no caller, so a caller's errors and delays do not reach other callers. A result is kept as long
 * as the event object, which is freed when the last subscriber has read it.
 */
export class EventResults<Result> {
  private readonly events = new WeakMap<object, ResultsOfEvent<Result>>();

  /**
   * @param open returns a session of no caller that sees these rows.
   * @param waitMs how long work may wait in its caller's queue, in milliseconds.
   */
  constructor(
    private readonly open: OpenSession,
    private readonly waitMs: number,
  ) {}

  /** Returns a result that rejects with TooSlow if the work waits too long, and with the errors of `compute`. */
  resultFor(event: object, work: EventWork<Result>): Computation<Result> {
    let results = this.events.get(event);
    if (!results) {
      results = new ResultsOfEvent(this.open, this.waitMs);
      this.events.set(event, results);
    }
    return results.joinOrStart(work);
  }
}

class ResultsOfEvent<Result> {
  /** Results that are computed or have been computed, by the key of their work. */
  private readonly started = new Map<string, SharedResult<Result>>();
  /** Work that waits in its caller's queue, by caller and key. */
  private readonly waiting = new Map<string, SharedResult<Result>>();
  /** The sessions and loaders, by the `Visibility` of the subscribers as JSON. */
  private readonly reads = new Map<string, SharedReads>();

  constructor(
    private readonly open: OpenSession,
    private readonly waitMs: number,
  ) {}

  /** Joins the other subscribers of the same work, or starts it, possibly after a wait. */
  joinOrStart(work: EventWork<Result>): Computation<Result> {
    const name = `${work.key} ${work.callerId}`;
    const known = this.started.get(work.key) ?? this.waiting.get(name);
    if (known) return known.join();
    const deadline = new Deadline(this.waitMs);
    const entered = work.waitToCompute(deadline);
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

/** A shared result. Until it is available, `waiting` is the number of subscribers that wait for it. */
class SharedResult<Result> {
  waiting = 0;
  private isDone = false;

  /** @param onAbandoned called when the last subscriber leaves before the result is available. */
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
