import type { Caller } from '../graphql/caller';

/** What identifies a caller that holds sockets, live operations, requests in progress or unsent bytes. */
export type Holder = Pick<Caller, 'id' | 'address'>;

/**
 * Sums what callers hold. The amount of an end user also counts for its address, since anybody can register many users at an
 * identity provider. So all users and the anonymous callers of one address together have the bounds of one caller.
 */
export class HeldByCaller {
  private readonly sums = new Map<string, number>();

  /** What the caller holds, or what its address holds, whichever is more. */
  of({ id, address }: Holder): number {
    const own = this.sums.get(id) ?? 0;
    return address === undefined ? own : Math.max(own, this.sums.get(address) ?? 0);
  }

  /** @param amount negative when the caller holds less. */
  add({ id, address }: Holder, amount: number): void {
    this.addTo(id, amount);
    if (address !== undefined) this.addTo(address, amount);
  }

  private addTo(id: string, amount: number): void {
    const sum = (this.sums.get(id) ?? 0) + amount;
    if (sum > 0) this.sums.set(id, sum);
    else this.sums.delete(id);
  }
}
