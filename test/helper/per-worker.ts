const values = (globalThis as unknown as { worker: Map<string, unknown> }).worker;

/** A value that is created once for all test files in a Jest worker, because creating it is slow. */
export function perWorker<T>(name: string, create: () => T): T {
  if (!values.has(name)) values.set(name, create());
  return values.get(name) as T;
}
