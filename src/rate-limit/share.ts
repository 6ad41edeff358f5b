import type { Subject } from './limit-status';
import type { Quota } from './plans';

/** The share of each quota that an instance grants when it counts alone: at least one request. */
export class Share {
  private readonly parts = new WeakMap<Quota, Quota>();

  constructor(private readonly fraction: number) {}

  of({ id, quota }: Subject): Subject {
    let part = this.parts.get(quota);
    if (part === undefined) {
      part = { perMinute: this.part(quota.perMinute), perDay: this.part(quota.perDay) };
      this.parts.set(quota, part);
    }
    return { id, quota: part };
  }

  private part(limit: number): number {
    return Math.max(1, Math.floor(limit * this.fraction));
  }
}
