import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';
import { IS_FULL } from '../../helper/full';
import { type Program, runTypeScript } from '../../helper/process';

let directory: string;
const started: Program[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-lock-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.stop('SIGKILL')));
  rmSync(directory, { recursive: true });
});

function start(...args: string[]): Program {
  const process = runTypeScript('test/database/embedded/lock-process.ts', [directory, ...args]);
  started.push(process);
  return process;
}

test('a second process is rejected with a one-line error that contains the pid of the first', async () => {
  const first = start();
  await first.printed(1);
  const { code, stderr } = await start().ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `${directory} is in use by process ${first.pid}. Stop it, or set DATA_DIR to another directory. If ${directory} is a copy of the directory that this process uses, the copy may be damaged: stop the process before copying.`,
  });
});

test('a process cannot lock a directory twice', () => {
  const unlock = lockDirectory(directory);
  expect(() => lockDirectory(`${directory}/../${directory.split('/').pop()}`)).toThrow(`by process ${process.pid}`);
  unlock();
  lockDirectory(directory)();
});

test.each(['SIGTERM', 'SIGKILL'] as const)('a lock can be acquired after its owner ended with %s', async (signal) => {
  const first = start();
  await first.printed(1);
  await first.stop(signal);
  expect(await start().printed(1)).toEqual(['locked']);
});

test('a lock of an earlier process with the same pid, as in containers, is taken over', () => {
  writeFileSync(join(directory, 'lock.1'), String(process.pid));
  lockDirectory(directory)();
});

// A lock file contains the start time of its process only on Linux.
const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a lock of an earlier process whose pid was reused is taken over', () => {
  writeFileSync(join(directory, 'lock.1'), `${process.ppid} 1`);
  lockDirectory(directory)();
});

test.each(['', 'garbage', '0', '-1', '99999999'])('a lock file that contains %j is taken over', (owner) => {
  writeFileSync(join(directory, 'lock.41'), owner);
  writeFileSync(join(directory, 'lock.7'), String(process.ppid));
  const unlock = lockDirectory(directory);
  expect(readdirSync(directory)).toEqual(['lock.42']);
  expect(() => lockDirectory(directory)).toThrow('in use');
  unlock();
});

test('releasing a lock twice does not release the lock of a later owner', () => {
  const unlock = lockDirectory(directory);
  unlock();
  const unlockAgain = lockDirectory(directory);
  unlock();
  expect(() => lockDirectory(directory)).toThrow('in use');
  unlockAgain();
});

test.each(['fresh', 'stale'])('exactly one of six processes that compete for a %s lock acquires it', async (state) => {
  const rounds = Array.from({ length: IS_FULL ? 150 : 40 }, (_, round) => round);
  for (const round of rounds) {
    mkdirSync(join(directory, String(round)));
    if (state === 'stale') writeFileSync(join(directory, String(round), 'lock.1'), '99999999');
  }
  const racing = Array.from({ length: 6 }, () => start(String(rounds.length)));
  await Promise.all(racing.map((process) => process.printed(1)));
  writeFileSync(join(directory, 'start.unfinished'), String(Date.now() + 50));
  renameSync(join(directory, 'start.unfinished'), join(directory, 'start'));
  const printed = await Promise.all(racing.map((process) => process.printed(2)));
  const locked = printed.map(([, line = '']) => JSON.parse(line) as number[]);
  expect(locked.flat().sort((a, b) => a - b)).toEqual(rounds);
  expect(locked.filter(({ length }) => length > 0).length).toBeGreaterThan(1);
});
