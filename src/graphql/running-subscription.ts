import type { FormattedExecutionResult } from 'graphql';
import type { Session } from '../database/database';
import { ProblemError } from '../errors/errors';
import { TooSlow } from '../events/feed';
import { Loaders } from './context';
import type { StabilityLevel } from './directives';
import { type ResponseContext, refusal } from './outcome';

type Answer = IteratorResult<FormattedExecutionResult, undefined>;

const OVER: Answer = { value: undefined, done: true };

/**
 * Iterates over the events of a running subscription. If the gateway ends the subscription, the last event is an error with
 * the reason.
 */
export class RunningSubscription implements AsyncIterableIterator<FormattedExecutionResult> {
  private isOver = false;
  private lastWord: unknown;
  /** The response to the current event, while it is being computed. */
  private coming: Computation<FormattedExecutionResult> | undefined;

  constructor(
    private readonly events: AsyncIterator<object>,
    private readonly respondTo: (event: object) => Computation<FormattedExecutionResult>,
    private readonly context: ResponseContext,
    /** Called exactly once, when the subscription ends. */
    private readonly onOver: (ended: RunningSubscription) => void,
  ) {}

  get stability(): StabilityLevel | undefined {
    return this.context.stability;
  }

  /** Ends the subscription. @param problem the reason, reported to the subscriber. */
  end(problem: unknown): void {
    if (this.isOver) return;
    this.lastWord = problem;
    void this.events.return?.();
  }

  async next(): Promise<Answer> {
    if (this.isOver) return OVER;
    try {
      const { value, done } = await this.events.next();
      if (!done && !this.isOver) {
        this.coming = this.respondTo(value);
        const response = await this.coming.result;
        if (!this.isOver) return { value: response, done: false };
      }
    } catch (error) {
      this.lastWord ??= error instanceof TooSlow ? tooSlow() : error;
    }
    // The subscriber has left in the meantime, so nothing is reported any more.
    if (this.isOver) return OVER;
    this.finish();
    return this.lastWord === undefined ? OVER : { value: refusal(this.lastWord, this.context).body, done: false };
  }

  async return(): Promise<Answer> {
    this.finish();
    this.coming?.leave();
    this.coming = undefined;
    await this.events.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onOver(this);
  }
}

function tooSlow(): ProblemError {
  const message = 'Events arrived faster than they were read. Subscribe again and reload the data.';
  return new ProblemError('SERVICE_UNAVAILABLE', message);
}

/** The session and data loaders that all computations for one event share, so that related rows are read only once. */
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

interface Shared<Result> {
  readonly result: Promise<Result>;
  /** Number of subscribers that have not left. */
  waiting: number;
  isDone: boolean;
}

interface EventResults<Result> {
  readonly reads: EventReads;
  readonly byWork: Map<string, Shared<Result>>;
}

/**
 * Computes the response to an event once for all subscribers that need the same response. The computations for an event are
 * cancelled when no subscriber waits for any of them. A result is kept as long as the event object, which is freed when the
 * last subscriber has read it.
 */
export class SharedResults<Result> {
  private readonly events = new WeakMap<object, EventResults<Result>>();

  /**
   * @param work identifies the computation among all computations for the event.
   * @param open returns a session for the event.
   */
  find(
    event: object,
    work: string,
    open: () => Session,
    compute: (reads: EventReads) => Promise<Result>,
  ): Computation<Result> {
    const results = this.resultsOf(event, open);
    const { reads, byWork } = results;
    const shared = byWork.get(work) ?? started(compute(reads), () => cancelUnwanted(results));
    byWork.set(work, shared);
    shared.waiting++;
    const leave = () => {
      shared.waiting--;
      cancelUnwanted(results);
    };
    return { result: shared.result, leave };
  }

  /** The results for an event. After the session has ended, later computations get a new session and new loaders. */
  private resultsOf(event: object, open: () => Session): EventResults<Result> {
    const before = this.events.get(event);
    if (before && !before.reads.session.requester.deadline.reason) return before;
    const results = { reads: { session: open(), loaders: new Loaders(true) }, byWork: before?.byWork ?? new Map() };
    this.events.set(event, results);
    return results;
  }
}

function started<Result>(result: Promise<Result>, onDone: () => void): Shared<Result> {
  const shared: Shared<Result> = { result, waiting: 0, isDone: false };
  const done = () => {
    shared.isDone = true;
    onDone();
  };
  result.then(done, done);
  return shared;
}

/** Cancels the unfinished computations if no subscriber waits for any of them. */
function cancelUnwanted<Result>({ reads, byWork }: EventResults<Result>): void {
  const unfinished = [...byWork].filter(([, { isDone }]) => !isDone);
  if (!unfinished.length || unfinished.some(([, { waiting }]) => waiting > 0)) return;
  for (const [work] of unfinished) byWork.delete(work);
  reads.session.requester.deadline.end();
}
