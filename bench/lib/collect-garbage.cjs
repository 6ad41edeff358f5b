// Lets whoever measures a heap have its garbage collected first: on SIGUSR2, in a process run with --expose-gc.
process.on('SIGUSR2', () => globalThis.gc?.());
