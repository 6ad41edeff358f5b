/**
 * Settles like `work`, but rejects if `work` takes longer than `limitMs`. A later outcome of `work` is ignored.
 * @throws Error if `work` takes too long.
 */
export function withTimeout<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no response within ${limitMs} ms`));
    // A busy process may run an overdue timer before it reads its sockets. `setImmediate` gives it time to read the reply.
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
