import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { BEATS, type Watch } from './watchdog';

/** The exit code of a process that had to be ended: `EX_SOFTWARE` of `sysexits.h`. */
const STUCK = 70;
/** How long it may take to exit, in milliseconds. */
const EXIT_MS = 2_000;
/**
 * Run in the main thread, by the inspector, which interrupts even a loop that never ends. Nothing else that this thread can do
 * ends process 1, which the gateway is in a container: no signal from within does. (Standard error is closed before Node
 * would write there that it waits for the debugger.)
 */
const EXIT = `process.getBuiltinModule('fs').closeSync(2); process.reallyExit(${STUCK})`;

const { beats, limitMs } = workerData as Watch;
const counter = new Int32Array(beats);
let last = -1;
/** Looks since the last beat. Not a time: while the process or the machine is suspended, neither thread runs. */
let missed = 0;

const timer = setInterval(() => {
  const beat = Atomics.load(counter, 0);
  missed = beat === last ? missed + 1 : 0;
  last = beat;
  if (missed > BEATS) end();
}, limitMs / BEATS);

function end(): void {
  clearInterval(timer);
  const seconds = limitMs / 1000;
  writeSync(
    2,
    `petstore-gateway: the event loop has not turned for ${seconds} s; ending this process, to be started again.\n`,
  );
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: EXIT });
  // It waits for the operating system.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), EXIT_MS);
}
