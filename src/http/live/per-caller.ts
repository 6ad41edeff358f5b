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
      if (!isOpen) return;
      isOpen = false;
      const left = (this.counts.get(caller) ?? 0) - 1;
      if (left > 0) this.counts.set(caller, left);
      else this.counts.delete(caller);
    };
  }
}
