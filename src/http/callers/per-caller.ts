/** Limits how many things of one kind each caller may have open. */
export class PerCaller {
  private readonly counts = new Map<string, number>();

  constructor(readonly most: number) {}

  /** @returns a function that releases the slot, once; `undefined` if the caller is at its limit. */
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
