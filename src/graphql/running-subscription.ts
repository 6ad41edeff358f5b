import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import { TooSlow } from '../events/feed';
import type { Context } from './context';
import { ProblemError } from './errors';
import { eventOf, refusal } from './outcome';

type Answer = IteratorResult<FormattedExecutionResult, undefined>;

const OVER: Answer = { value: undefined, done: true };

/**
 * The events of a running subscription. If anything but the subscriber ends it, the last event is an error that
 * says why.
 */
export class RunningSubscription implements AsyncIterableIterator<FormattedExecutionResult> {
  private isOver = false;
  private lastWord: unknown;

  constructor(
    private readonly results: AsyncIterator<ExecutionResult>,
    private readonly context: Context,
    /** Called exactly once, however it ends. */
    private readonly onOver: (ended: RunningSubscription) => void,
  ) {}

  /** Ends it. @param problem the reason, reported to the subscriber. */
  end(problem: unknown): void {
    if (this.isOver) return;
    this.lastWord = problem;
    void this.results.return?.();
  }

  async next(): Promise<Answer> {
    if (this.isOver) return OVER;
    try {
      const { value, done } = await this.results.next();
      if (!done) return { value: eventOf(value, this.context), done: false };
    } catch (error) {
      this.lastWord ??= error instanceof TooSlow ? tooSlow() : error;
    }
    this.finish();
    return this.lastWord === undefined
      ? OVER
      : { value: refusal(this.lastWord, this.context).body, done: false };
  }

  async return(): Promise<Answer> {
    this.finish();
    await this.results.return?.();
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
