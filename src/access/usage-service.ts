import type { Session } from '../database/database';
import { statement } from '../database/statement';
import { Checks, MAX_INT32, PAGE_SIZE, type Rule } from '../errors/input-checks';
import type { Context } from '../graphql/context';
import { DAY_MS } from '../rate-limit/plans';
import { dayOf, KEPT_DAYS, type Usage, type UsageRecorder } from './usage';

/** The usage of a caller on a day in UTC. */
export interface UsageDay extends Usage {
  /** `2026-11-23` */
  readonly date: string;
}

/** The minimum and maximum number of days in a query. */
export const DAYS = { minimum: 1, maximum: KEPT_DAYS } satisfies Rule;

export const DEFAULT_DAYS = 30;

const READ = statement(`select caller, (day - date '1970-01-01') as day, requests, refused, bans
from usage_days where caller = any($1::text[]) and day >= date '1970-01-01' + $2::int`);

const TOP =
  statement(`select caller, sum(requests)::bigint as requests, sum(refused)::bigint as refused, sum(bans)::bigint as bans
from usage_days where day >= date '1970-01-01' + $1::int
group by caller order by 2 desc, 3 desc, 1 limit $2::int`);

type Row = { readonly [name in keyof Usage]: bigint } & { readonly caller: string };

/** The session and the loaders of an operation. */
type Reading = Pick<Context, 'session' | 'loaders'>;

/** Queries the usage of callers. Each query first saves the counts of this process, so that the result includes them. */
export class UsageService {
  /** @param now milliseconds since the Unix epoch. */
  constructor(
    private readonly recorder: UsageRecorder,
    private readonly now: () => number,
  ) {}

  /**
   * The usage of a caller on the last `days` days, today included, with an entry for every day, oldest first. All `usage`
   * fields of an operation are read with one SQL statement, for any callers and any `days`.
   * @param caller the id of an API key. Without it, the list is empty.
   * @throws ProblemError `BAD_USER_INPUT`.
   */
  async daily({ session, loaders }: Reading, caller: string | undefined, days: number): Promise<readonly UsageDay[]> {
    check({ days });
    if (caller === undefined) return [];
    const found = await loaders.load('usage', `${days} ${caller}`, async (keys: readonly string[]) => {
      const wanted = keys.map((key) => {
        const space = key.indexOf(' ');
        return { key, days: Number(key.slice(0, space)), caller: key.slice(space + 1) };
      });
      const callers = [...new Set(wanted.map(({ caller }) => caller))];
      const usage = await this.dailyOf(session, callers, Math.max(...wanted.map(({ days }) => days)));
      return new Map(wanted.map(({ key, caller, days }) => [key, usage.get(caller)?.slice(-days) ?? []]));
    });
    return found ?? [];
  }

  private async dailyOf(session: Session, callers: readonly string[], days: number): Promise<Map<string, UsageDay[]>> {
    await this.recorder.flush();
    const since = dayOf(this.now()) - days + 1;
    const nothing = (_: unknown, index: number) => ({ date: dateOf(since + index), requests: 0, refused: 0, bans: 0 });
    const usage = new Map(callers.map((caller) => [caller, Array.from({ length: days }, nothing)]));
    for (const row of await session.query<Row & { day: number }>(READ, [callers, since]))
      Object.assign(usage.get(row.caller)?.[row.day - since] ?? {}, countsOf(row));
    return usage;
  }

  /**
   * The callers with the most requests on the last `days` days, today included.
   * @throws ProblemError `BAD_USER_INPUT`.
   */
  async top(session: Session, days: number, first: number): Promise<(Usage & { readonly caller: string })[]> {
    check({ days, first });
    await this.recorder.flush();
    const rows = await session.query<Row>(TOP, [dayOf(this.now()) - days + 1, first]);
    return rows.map((row) => ({ caller: row.caller, ...countsOf(row) }));
  }
}

/** `2026-11-23` */
function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Limits counts to the largest integer of GraphQL. */
function countsOf({ requests, refused, bans }: Row): Usage {
  const capped = (count: bigint) => Math.min(Number(count), MAX_INT32);
  return { requests: capped(requests), refused: capped(refused), bans: capped(bans) };
}

function check(input: { readonly days: number; readonly first?: number }): void {
  const checks = new Checks();
  checks.value('days', DAYS, input.days);
  checks.value('first', PAGE_SIZE, input.first);
  checks.done();
}
