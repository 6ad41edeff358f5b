import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import { TooSlow } from '../events/feed';
import type { Context } from './context';
import { ProblemError } from './errors';
import { eventOf, refusal } from './outcome';

type Answer = IteratorResult<FormattedExecutionResult, undefined>;

const OVER: Answer = { value: undefined, done: true };

/**
 * The answers of a subscription that has begun. Where it does not end by its subscriber's will, its last answer is an error
 * that says why.
 */
export class RunningSubscription implements AsyncIterableIterator<FormattedExecutionResult> {
  private isOver = false;
  private lastWord: unknown;

  constructor(
    private readonly results: AsyncIterator<ExecutionResult>,
    private readonly context: Context,
    /** Called once, however it ends. */
    private readonly onOver: (ended: RunningSubscription) => void,
  ) {}

  /** Ends it. @param problem why: the subscriber is told. */
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
  const message =
    'Changes came faster than they were read. Subscribe again, and read what has become of them.';
  return new ProblemError('SERVICE_UNAVAILABLE', message);
}
