// Loaded before a server (NODE_OPTIONS=--require). On SIGUSR2, starts to watch the garbage collector. On the next
// SIGUSR2, stops, and writes the statistics to the file that GARBAGE_FILE names. See garbage.mjs.
const { writeFileSync } = require('node:fs');
const { GCProfiler } = require('node:v8');
const { isMainThread } = require('node:worker_threads');

let profiler;

function toggle() {
  if (profiler) writeFileSync(process.env.GARBAGE_FILE, JSON.stringify(profiler.stop().statistics));
  profiler = profiler ? undefined : new GCProfiler();
  profiler?.start();
}

if (isMainThread && process.env.GARBAGE_FILE) process.on('SIGUSR2', toggle);
