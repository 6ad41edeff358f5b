// Loaded before a server (NODE_OPTIONS=--require): on SIGUSR2 it begins to watch the garbage collector, on the next one it
// writes what it saw to the file that GARBAGE_FILE names. See garbage.mjs.
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
