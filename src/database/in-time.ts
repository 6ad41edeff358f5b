/**
 * Settles as `work` does, unless it takes longer than `limitMs`. A later outcome is ignored.
 * @throws Error when the time is up.
 */
export function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${limitMs} ms`));
    // A busy process may run a late timer before it reads its sockets. A reply that has already arrived still wins.
    const timer = setTimeout(() => setImmediate(giveUp), limitMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
