import type { Standing, Subject } from './limit-status';
import type { Store } from './store';

/**
 * The meter of one request: it takes only once, whichever code asks first, and remembers the caller's resulting
 * standing, which goes into the response headers.
 */
export class Meter {
  private taken: Standing | Promise<Standing> | undefined;
  /** The caller's standing after this request; `undefined` until it has been counted. */
  standing: Standing | undefined;

  constructor(
    private readonly store: Store,
    readonly subject: Subject,
  ) {}

  /** Takes `cost` requests, or one free request if it is 0. Further calls take nothing and return the same standing. */
  take(cost: number): Standing | Promise<Standing> {
    this.taken ??= this.remember(this.store.take(this.subject, cost || 1, cost ? 'counted' : 'free'));
    return this.taken;
  }

  /** The caller's standing; takes nothing. */
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
