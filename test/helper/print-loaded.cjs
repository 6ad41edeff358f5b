// With `node --require`: at its end, a process prints how many modules it has loaded, and which of them trace.
process.on('exit', () => {
  const loaded = Object.keys(require.cache);
  const tracing = loaded.filter((file) => /@opentelemetry.(?!api.)|(dist|src).tracing/.test(file));
  process.stderr.write(`LOADED ${loaded.length} ${tracing}\n`);
});
