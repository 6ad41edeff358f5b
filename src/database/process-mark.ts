import { readFileSync } from 'node:fs';

/**
 * What tells a process from others that have or will have its pid: `1234`, and where the system tells (Linux, `proc(5)`)
 * when it was started: `1234 8567423`, in clock ticks since boot. After a restart of the machine or a container a pid
 * soon belongs to somebody else.
 */
export function processMark(pid: number): string {
  return `${pid} ${startOf(pid)}`.trim();
}

/** Whether the process of a mark still runs. */
export function isRunning(mark: string): boolean {
  const [pid, start] = mark.split(' ');
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

/** The 22nd field of `/proc/PID/stat`, of which the second, in parentheses, may hold anything; a dead process has none. */
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
