const values = (globalThis as unknown as { worker: Map<string, unknown> }).worker;

/** A value that all test files in one worker of Jest share, because it is costly to create and the same for all. */
export function perWorker<T>(name: string, create: () => T): T {
  if (!values.has(name)) values.set(name, create());
  return values.get(name) as T;
}
