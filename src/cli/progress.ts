import { SingleBar } from 'cli-progress';

/** Reports how much of a work is done. */
export type Progress = (done: number, total: number) => void;

/** A work that takes longer than this shows its progress, in milliseconds. */
const PATIENCE_MS = 500;

/** Runs a long work, with a bar if standard error is a terminal. @param format what the bar says of `{value}` and `{total}`. */
export async function withProgress<T>(format: string, run: (progress: Progress) => Promise<T>): Promise<T> {
  const bar = new SingleBar({ format: `{bar} {percentage}% · ${format}`, hideCursor: true });
  const start = performance.now();
  try {
    return await run((done, total) => {
      if (bar.isActive) {
        bar.setTotal(total);
        bar.update(done);
      } else if (process.stderr.isTTY && performance.now() - start > PATIENCE_MS) bar.start(total, done);
    });
  } finally {
    bar.stop();
  }
}
