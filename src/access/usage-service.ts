import type { Session } from '../database/database';
import { Checks, MAX_INT32, PAGE_SIZE, type Rule } from '../errors/inputs';
import { dateOf, dayOf, readTopCallers, type Usage } from './usage';
import { KEPT_DAYS, type UsageRecorder } from './usage-recorder';

/** What a caller used on a day in UTC: `2026-11-23`. */
export interface UsageDay extends Usage {
  readonly date: string;
}

/** For how many days usage may be asked. */
export const DAYS = { minimum: 1, maximum: KEPT_DAYS } satisfies Rule;

export const DEFAULT_DAYS = 30;

/** Tells what callers used. */
export class UsageService {
  /** @param now milliseconds of the Unix epoch. */
  constructor(
    private readonly recorder: UsageRecorder,
    private readonly now: () => number,
  ) {}

  /**
   * What callers used on the last `days` days, today included: every day, oldest first.
   * @throws ProblemError `BAD_USER_INPUT`.
   */
  async daily(session: Session, callers: readonly string[], days: number): Promise<Map<string, UsageDay[]>> {
    check({ days });
    if (!callers.length) return new Map();
    const since = dayOf(this.now()) - days + 1;
    const sums = new Map(callers.map((caller) => [caller, Array.from({ length: days }, nothing)]));
    for (const { caller, day, ...used } of await this.recorder.read(session, callers, since)) {
      const sum = sums.get(caller)?.[day - since];
      if (sum) for (const name of NAMES) sum[name] = Math.min(sum[name] + used[name], MAX_INT32);
    }
    const dated = (sum: Usage, index: number) => ({ date: dateOf(since + index), ...sum });
    return new Map([...sums].map(([caller, each]) => [caller, each.map(dated)]));
  }

  /**
   * The callers with the most requests on the last `days` days, today included. Saves what this process has counted first.
   * @throws ProblemError `BAD_USER_INPUT`.
   */
  async top(session: Session, days: number, first: number): Promise<(Usage & { readonly caller: string })[]> {
    check({ days, first });
    await this.recorder.flush();
    const callers = await readTopCallers(session, dayOf(this.now()) - days + 1, first);
    return callers.map(({ caller, ...used }) => ({ caller, ...capped(used) }));
  }
}

const NAMES = ['requests', 'refused', 'bans'] as const;
const nothing = () => ({ requests: 0, refused: 0, bans: 0 });

/** GraphQL has no larger integers. */
function capped(used: Usage): Usage {
  const cap = (count: number) => Math.min(count, MAX_INT32);
  return { requests: cap(used.requests), refused: cap(used.refused), bans: cap(used.bans) };
}

function check(input: { readonly days: number; readonly first?: number }): void {
  const checks = new Checks();
  checks.value('days', DAYS, input.days);
  checks.value('first', PAGE_SIZE, input.first);
  checks.done();
}
