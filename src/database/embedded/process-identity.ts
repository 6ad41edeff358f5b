import { readFileSync } from 'node:fs';

/**
 * Returns a text that identifies a process. A pid alone is not enough, since pids are soon reused after a restart of the
 * machine or container. On Linux the text is the pid and the start time in clock ticks since boot (`proc(5)`):
 * `1234 8567423`. On other systems it is only the pid: `1234`.
 */
export function identityOf(pid: number): string {
  return `${pid} ${startOf(pid)}`.trim();
}

export function isRunning(identity: string): boolean {
  const [pid, start] = identity.split(' ');
  if (!exists(Number(pid))) return false;
  return start === undefined || startOf(Number(pid)) === start;
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
