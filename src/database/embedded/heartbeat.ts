/** The worker thread that renews a lock. PGlite may block the main thread for longer than a lock lasts. */
import { writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { file, everyMs } = workerData as { file: string; everyMs: number };
let beats = 0;

setInterval(() => {
  beats += 1;
  try {
    // `r+` does not create the file again after another process has deleted it.
    writeFileSync(file, String(beats), { flag: 'r+' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // After other errors, such as a full disk, the next renewal tries again.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESTALE') parentPort?.postMessage(code);
  }
}, everyMs);
