// Collects garbage on SIGUSR2, for heap measurements, in a process run with --expose-gc.
process.on('SIGUSR2', () => globalThis.gc?.());
