import type { FormattedExecutionResult } from 'graphql';
import { ProblemError } from '../errors/errors';
import { TooSlow } from '../events/event-queue';
import type { StabilityLevel } from './directives';
import type { Computation } from './event-results';
import { type Outcome, type ResponseContext, rejectOperation } from './outcome';

type Result = IteratorResult<FormattedExecutionResult, undefined>;

/** A subscription that has started, or the response to any other operation. */
export type LiveResult = RunningSubscription | Outcome;

/** Starts an operation. @param onOver to be called when a started subscription ends. */
export type StartLive = (onOver: (ended: RunningSubscription) => void) => Promise<LiveResult>;

const OVER: Result = { value: undefined, done: true };

/**
 * Iterates over the events of a running subscription. If the gateway ends the subscription, the last event is an error with
 * the reason.
 */
export class RunningSubscription implements AsyncIterableIterator<FormattedExecutionResult> {
  private isOver = false;
  private endReason: unknown;
  /** Set while events are held back. `resume` settles `ended`. */
  private pausing: { readonly ended: Promise<void>; resume(): void } | undefined;
  /** The response to the current event, while it is being computed. */
  private computation: Computation<FormattedExecutionResult> | undefined;

  constructor(
    private readonly events: AsyncIterator<object>,
    private readonly respondTo: (event: object) => Computation<FormattedExecutionResult>,
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

  /** Holds events back until {@link resume}, while it is unknown whether the subscriber may receive them. */
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

  async next(): Promise<Result> {
    if (this.isOver) return OVER;
    try {
      const { value, done } = await this.events.next();
      if (!done && !this.isOver) {
        this.computation = this.respondTo(value);
        const response = await this.computation.result;
        while (this.pausing) await this.pausing.ended;
        if (!this.isOver && this.endReason === undefined) return { value: response, done: false };
      }
    } catch (error) {
      this.endReason ??= error instanceof TooSlow ? tooSlow() : error;
    }
    // The subscriber has left in the meantime, so nothing is reported any more.
    if (this.isOver) return OVER;
    this.finish();
    void this.events.return?.();
    return this.endReason === undefined
      ? OVER
      : { value: rejectOperation(this.endReason, this.context).body, done: false };
  }

  async return(): Promise<Result> {
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

function tooSlow(): ProblemError {
  const message = 'Events arrived faster than they were read. Subscribe again and reload the data.';
  return new ProblemError('SERVICE_UNAVAILABLE', message);
}
