let callbacks: (() => void)[] = [];
let startedAt: number | undefined;

/**
 * Calls the callback at the end of this iteration of the event loop, in one batch with all other callbacks. The callback may
 * run in the asynchronous context of another request (`AsyncLocalStorage`), so it must only settle a promise.
 *
 * New requests (the stage `batch` in http/server.ts) and the results of statements are handled in such batches. The requests
 * of a batch take turns at each `await`, so each step runs for the whole batch before the next step begins. The code of the
 * step then stays in the processor's caches. Handled one by one, requests cost far more CPU time (bench/README.md, "What
 * measuring has shown").
 */
export function callAtIterationEnd(callback: () => void): void {
  if (callbacks.push(callback) > 1) return;
  setImmediate(callAll);
  setImmediate(endBatch);
}

/** When the batch began whose callbacks and promises run now, as `performance.now()`; `undefined` outside of batches. */
export function batchStartedAt(): number | undefined {
  return startedAt;
}

function callAll(): void {
  startedAt = performance.now();
  const batch = callbacks;
  callbacks = [];
  for (const callback of batch) callback();
}

/** Node runs this immediate after the promises that the batch has settled. */
function endBatch(): void {
  startedAt = undefined;
}
