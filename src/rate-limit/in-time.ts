/**
 * What `work` comes to, unless it takes longer than `limitMs`. What it comes to afterwards is dropped.
 * @throws Error when the time is over.
 */
export function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${limitMs} ms`));
    // A busy process may run a late timer before it reads its sockets. An answer that is already there still wins.
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
