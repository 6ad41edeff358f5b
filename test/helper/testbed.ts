/**
 * Makes a function that wraps the functions of tests. Each test gets a separate testbed, which is closed after the test. Such
 * tests can run concurrently: Jest runs no `beforeEach` and `afterEach` for `test.concurrent`.
 */
export function withOwn<Testbed extends { close(): Promise<void> }>(open: () => Testbed | Promise<Testbed>) {
  return <Args extends unknown[]>(run: (bed: Testbed, ...args: Args) => Promise<void>) =>
    async (...args: Args): Promise<void> => {
      const bed = await open();
      try {
        await run(bed, ...args);
      } finally {
        await bed.close();
      }
    };
}
