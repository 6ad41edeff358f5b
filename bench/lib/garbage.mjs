import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WATCHER = fileURLToPath(new URL('garbage.cjs', import.meta.url));
const POLL_MS = 50;

/** The environment of a server that {@link watchGarbage} can watch. */
export const garbageEnv = (file, env = {}) => ({
  ...env,
  GARBAGE_FILE: file,
  NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --require=${WATCHER}`,
});

/**
 * Measures the collections of the young generation in a server while `act` sends requests.
 * @returns the `result` of `act`, and `garbage` with four numbers: the bytes `allocated` in the young generation, the bytes
 * that `survived` a collection (were copied), the bytes `promoted` (kept until the next full collection), and `us`, the
 * duration of the collections in microseconds
 */
export async function watchGarbage({ pid }, file, act) {
  process.kill(pid, 'SIGUSR2');
  const result = await act();
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(POLL_MS);
  await sleep(POLL_MS);
  const garbage = { allocated: 0, survived: 0, promoted: 0, us: 0 };
  for (const { gcType, cost, beforeGC, afterGC } of JSON.parse(readFileSync(file, 'utf8'))) {
    if (gcType !== 'Scavenge') continue;
    const [young, old] = ['new_space', 'old_space'].map((name) => [usedIn(beforeGC, name), usedIn(afterGC, name)]);
    garbage.allocated += young[0] - young[1];
    garbage.survived += young[1] + old[1] - old[0];
    garbage.promoted += old[1] - old[0];
    garbage.us += cost;
  }
  return { result, garbage };
}

function usedIn({ heapSpaceStatistics }, name) {
  return heapSpaceStatistics.find(({ spaceName }) => spaceName === name).spaceUsedSize;
}
