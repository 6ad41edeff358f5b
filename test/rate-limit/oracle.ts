import type { Quota } from '../../src/rate-limit/plans';
import type { BanRules, RequestKind, Verdict } from '../../src/rate-limit/rules';

const MINUTE = 60_000;
const DAY = 86_400_000;

interface Past {
  readonly at: number;
  readonly cost: number;
}

/** A naive version of the rules: it keeps the whole history, and computes every answer from it anew. */
export class Oracle {
  private readonly counted: Past[] = [];
  private readonly free: Past[] = [];
  private refusals: { at: number; windowEnds: number }[] = [];
  private readonly bans: { from: number; until: number }[] = [];

  constructor(private readonly rules: BanRules) {}

  used(now: number): { minute: number; day: number } {
    return { minute: usedIn(this.counted, MINUTE, now).used, day: usedIn(this.counted, DAY, now).used };
  }

  take(quota: Quota, cost: number, kind: RequestKind, now: number): Verdict {
    const { used: asked, ends: askedEnds } = usedIn(this.free, MINUTE, now);
    const isFull = asked + 1 > quota.perMinute * 10;
    const isBanned = this.bans.some(({ from, until }) => from <= now && now < until);
    if (isBanned && (kind !== 'status' || isFull)) return 'banned';
    if (kind !== 'counted') {
      if (isFull) return this.refuse(now, [askedEnds]);
      this.free.push({ at: now, cost: 1 });
      return 'allowed';
    }
    if (cost > Math.min(quota.perMinute, quota.perDay)) return 'too-expensive';
    const windows = [
      { ...usedIn(this.counted, MINUTE, now), limit: quota.perMinute },
      { ...usedIn(this.counted, DAY, now), limit: quota.perDay },
    ];
    const exceeded = windows.filter(({ used, limit }) => used + cost > limit);
    if (exceeded.length > 0) {
      return this.refuse(
        now,
        exceeded.map(({ ends }) => ends),
      );
    }
    this.counted.push({ at: now, cost });
    return 'allowed';
  }

  private refuse(now: number, ends: number[]): Verdict {
    this.refusals.push({ at: now, windowEnds: Math.max(...ends) });
    let borne = 0;
    let forgottenAt = 0;
    for (const { at, windowEnds } of this.refusals) {
      if (at >= forgottenAt) borne = 0;
      borne += 1;
      forgottenAt = Math.max(forgottenAt, windowEnds);
    }
    if (borne >= this.rules.banAfter) this.ban(now);
    return 'limited';
  }

  private ban(now: number): void {
    let inARow = 0;
    let next = now;
    for (const { from } of this.bans.toReversed()) {
      if (next - from >= DAY) break;
      inARow += 1;
      next = from;
    }
    const seconds = Math.min(this.rules.banSeconds * 2 ** inARow, this.rules.banMaxSeconds);
    this.bans.push({ from: now, until: now + seconds * 1000 });
    this.refusals = [];
  }
}

/** Fixed windows, each started by the first request after the previous one. */
function usedIn(past: readonly Past[], length: number, now: number): { used: number; ends: number } {
  let ends = 0;
  let used = 0;
  for (const { at, cost } of past) {
    if (at >= ends) {
      ends = at + length;
      used = 0;
    }
    used += cost;
  }
  return now < ends ? { used, ends } : { used: 0, ends: now + length };
}
