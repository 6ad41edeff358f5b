let callbacks: (() => void)[] = [];

/**
 * Calls the callback at the end of this iteration of the event loop, after all other callbacks of the iteration.
 *
 * New requests and the results of statements are handled in such batches. Each step of handling a request then runs for the
 * whole batch before the next step, since the promises of these requests are settled in turn. So the code of the step stays
 * in the processor's caches. With 64 connections, this saves 10 to 35 % of the CPU time of a request (bench/README.md).
 */
export function together(callback: () => void): void {
  if (callbacks.push(callback) === 1) setImmediate(callAll);
}

function callAll(): void {
  const batch = callbacks;
  callbacks = [];
  for (const callback of batch) callback();
}
