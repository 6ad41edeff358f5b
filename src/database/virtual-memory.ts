/**
 * Adds what to do to the message of an error about virtual memory. Node.js reserves several gigabytes of it for each module of
 * WebAssembly, such as the one in its `fetch`, but uses little of it.
 * @returns `undefined` if the error is another.
 */
export function explainVirtualMemory(message: string): string | undefined {
  if (!/WebAssembly.*memory/i.test(message)) return undefined;
  const remedy = 'run ulimit -v unlimited. To bound the memory of the gateway, use a cgroup';
  return `${message}. The limit of virtual memory is too low: ${remedy}.`;
}
