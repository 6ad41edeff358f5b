import { readFileSync } from 'node:fs';

/** How much virtual memory the embedded PostgreSQL needs, in bytes. Most of it is only reserved. */
const NEEDED = 12e9;

/** @throws Error if the process has too little virtual memory for the embedded PostgreSQL. Otherwise, Node.js 24 could crash later. */
export function requireVirtualMemory(): void {
  const [, limit] = /^Max address space +(\d+)/m.exec(limitsOfProcess()) ?? [];
  if (limit === undefined || Number(limit) >= NEEDED) return;
  throw new Error(
    `WebAssembly needs ${NEEDED / 1e9} GB of virtual memory, but the process may have ${Number(limit) / 1e9} GB`,
  );
}

/** The limits of this process (proc_pid_limits(5)); empty on other systems than Linux. */
function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/**
 * Adds a remedy to the message of an error about virtual memory. For each WebAssembly module, such as the module in `fetch`,
 * Node.js reserves several gigabytes of virtual memory, but uses little of it.
 * @returns `undefined` for other errors.
 */
export function explainVirtualMemory(message: string): string | undefined {
  if (!/WebAssembly.*memory/i.test(message)) return undefined;
  const remedy = 'run ulimit -v unlimited. To bound the memory of the gateway, use a cgroup';
  return `${message}. The limit of virtual memory is too low: ${remedy}.`;
}
