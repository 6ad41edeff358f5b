import type { Caller } from '../graphql/caller';

/** What identifies a caller that holds sockets, live operations, requests in progress or unsent bytes. */
export type Holder = Pick<Caller, 'id' | 'address'>;

/**
 * Sums what callers hold. The amount of an end user also counts for the client's address, since a person can register many
 * accounts at an identity provider. Therefore all users and anonymous callers of one address share the limits of one caller.
 */
export class HeldByCaller {
  private readonly sums = new Map<string, number>();

  /** The greater of two amounts: what the caller holds, and what the caller's address holds. */
  of({ id, address }: Holder): number {
    const own = this.sums.get(id) ?? 0;
    return address === undefined ? own : Math.max(own, this.sums.get(address) ?? 0);
  }

  /** @param amount negative when the caller releases something. */
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
