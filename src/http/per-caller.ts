/** How many things of one kind each caller has open, and how many it may. */
export class PerCaller {
  private readonly counts = new Map<string, number>();

  constructor(readonly most: number) {}

  /** @returns what gives it back, once; `undefined` when the caller has as many as it may. */
  take(caller: string): (() => void) | undefined {
    const count = this.counts.get(caller) ?? 0;
    if (count >= this.most) return undefined;
    this.counts.set(caller, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.give(caller);
      isOpen = false;
    };
  }

  private give(caller: string): void {
    const count = this.counts.get(caller) ?? 0;
    if (count > 1) this.counts.set(caller, count - 1);
    else this.counts.delete(caller);
  }
}
