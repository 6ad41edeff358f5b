import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 12_000;

const running = new Set();

/** Whether the servers and the load generator run on separate cores. If they share cores, the figures are less reliable. */
export const pinned = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

/** Keeps this process, which generates the load, off the servers' core. */
export function pinLoad() {
  if (pinned) spawnSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)]);
}

/**
 * Starts a server on the first core, or on all cores if it is `unpinned`. Waits until the server responds.
 * @returns its `pid`, `port` and `url`, and `stop`
 */
export async function start({ name, script, env, unpinned }, databaseUrl, nodeFlags = []) {
  const port = await freePort();
  const command = [...(pinned && !unpinned ? ['taskset', '-c', '0'] : []), process.execPath, ...nodeFlags, script];
  const child = spawn(command[0], command.slice(1), {
    cwd: new URL('../..', import.meta.url),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      NODE_ENV: 'production',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-2000);
  });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${name} did not start\n${complaints}`);
    }
    await sleep(100);
  }
  return { pid: child.pid, port, url, stop: () => stop(child) };
}

/** Stops all servers that are still running. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exit;
  clearTimeout(timer);
}

async function answers(url) {
  try {
    return (await fetch(`${url}/readyz`)).status < 500;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
