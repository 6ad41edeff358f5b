import { readFileSync } from 'node:fs';

/**
 * Identifies a process among all that have had or will have its pid: `1234` or, where the system provides it (Linux,
 * `proc(5)`), with its start time in clock ticks since boot: `1234 8567423`. After a restart of the machine or a
 * container a pid is soon reused.
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

/** Field 22 of `/proc/PID/stat`; field 2, in parentheses, may contain anything. Empty for a dead process. */
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
