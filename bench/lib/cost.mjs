import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const tick = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * The resources used so far by a process and all its descendants, according to Linux.
 * @returns `cpuMs`: user and system time in milliseconds; `rssMb`: resident memory in MiB
 */
export function costOf(pid) {
  const processes = new Map();
  for (const entry of readdirSync('/proc')) {
    const found = /^\d+$/.test(entry) && statOf(entry);
    if (found) processes.set(Number(entry), found);
  }
  let cpuMs = 0;
  let rssMb = 0;
  for (const [id, { cpu, pages }] of processes) {
    if (!descends(id, pid, processes)) continue;
    cpuMs += cpu;
    rssMb += (pages * 4096) / 2 ** 20;
  }
  return { cpuMs, rssMb };
}

function descends(id, ancestor, processes) {
  for (let at = id; at > 1; at = processes.get(at)?.parent ?? 0) if (at === ancestor) return true;
  return false;
}

/**
 * Reads fields of `/proc/<pid>/stat`, numbered as in proc_pid_stat(5): 4 is the parent, 14 and 15 are CPU times, 24 is the
 * number of resident pages.
 */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      parent: Number(fields[1]),
      cpu: (Number(fields[11]) + Number(fields[12])) * tick,
      pages: Number(fields[21]),
    };
  } catch {
    return undefined; // The process has ended.
  }
}
