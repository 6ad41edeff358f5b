import { readFileSync } from 'node:fs';

/**
 * Reads a lock of a version before 1.0. It is a file with the pid of its owner, and on Linux with the owner's start time in
 * clock ticks since boot: `1234 8567423`. An owner in another container cannot be seen.
 * @returns the pid of the owner if the owner runs.
 */
export function pidLockOwner(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined; // deleted
  }
  const [pid, start] = text.split(' ');
  const number = Number(pid);
  if (number === process.pid || !exists(number)) return undefined;
  return start === undefined || startOf(number) === start ? number : undefined;
}

function exists(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The start time: field 22 of `/proc/PID/stat`; empty for a dead process. Field 2, in parentheses, may contain any text. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const dead = fields[0] === 'Z' || fields[0] === 'X';
    return dead ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}
