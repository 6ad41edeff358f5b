import type { Standing, Subject } from './standing';
import type { Store } from './store';

/**
 * The meter of one request: it takes once, whoever asks first, and remembers where that left the caller. What it tells
 * goes into the answer's headers.
 */
export class Meter {
  private taken: Standing | Promise<Standing> | undefined;
  /** Where the caller stands after this request; `undefined` until it has been counted. */
  standing: Standing | undefined;

  constructor(
    private readonly store: Store,
    readonly subject: Subject,
  ) {}

  /** Takes `cost` requests, or a free one where that is 0. A second call takes nothing and answers the same. */
  take(cost: number): Standing | Promise<Standing> {
    this.taken ??= this.remember(this.store.take(this.subject, cost || 1, cost ? 'counted' : 'free'));
    return this.taken;
  }

  /** Where the caller stands, with nothing taken. */
  peek(): Standing | Promise<Standing> {
    return this.remember(this.store.peek(this.subject));
  }

  private remember(standing: Standing | Promise<Standing>): Standing | Promise<Standing> {
    if (!(standing instanceof Promise)) {
      this.standing = standing;
      return standing;
    }
    return standing.then((settled) => {
      this.standing = settled;
      this.taken &&= settled;
      return settled;
    });
  }
}
