import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/database/embedded/directory-lock';
import { type Child, runTypeScript } from '../../helper/child';
import { IS_FULL } from '../../helper/full';

let directory: string;
const children: Child[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-lock-'));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  rmSync(directory, { recursive: true });
});

function start(file: string, ...args: string[]): Child {
  const child = runTypeScript(`test/database/embedded/${file}`, args);
  children.push(child);
  return child;
}

const hold = () => start('lock-holder.ts', directory);

describe('the lock of a directory', () => {
  test('refuses a second process in one line that names the first', async () => {
    const first = hold();
    expect(await first.line()).toBe('locked');
    const { code, stderr } = await hold().end();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `${directory} is in use by process ${first.pid}. Stop it, or set DATA_DIR to another directory. If it is a copy of the directory that this process uses, it may be damaged: stop the process before copying.`,
    );
  });

  test('refuses the same process a second time', () => {
    const unlock = lockDirectory(directory);
    expect(() => lockDirectory(`${directory}/../${directory.split('/').pop()}`)).toThrow(
      `in use by process ${process.pid}`,
    );
    unlock();
    lockDirectory(directory)();
  });

  test('is free again once released', async () => {
    const first = hold();
    await first.line();
    await first.kill('SIGTERM');
    expect(await hold().line()).toBe('locked');
  });

  test('is taken over from a killed process', async () => {
    const first = hold();
    await first.line();
    await first.kill('SIGKILL');
    expect(await hold().line()).toBe('locked');
  });

  test('is taken over from an earlier process with the same pid, as happens in containers', () => {
    writeFileSync(join(directory, 'lock.1'), String(process.pid));
    lockDirectory(directory)();
  });

  // Where the system says when a process was started.
  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('is taken over from an earlier process whose pid was reused', () => {
    writeFileSync(join(directory, 'lock.1'), `${process.ppid} 1`);
    lockDirectory(directory)();
  });

  test.each(['', 'garbage', '0', '-1', '99999999'])('is taken over if it contains %j', (owner) => {
    writeFileSync(join(directory, 'lock.41'), owner);
    writeFileSync(join(directory, 'lock.7'), String(process.ppid));
    const unlock = lockDirectory(directory);
    expect(readdirSync(directory)).toEqual(['lock.42']);
    expect(() => lockDirectory(directory)).toThrow('in use');
    unlock();
  });

  test('released twice stays with whoever took it in between', () => {
    const unlock = lockDirectory(directory);
    unlock();
    const unlockAgain = lockDirectory(directory);
    unlock();
    expect(() => lockDirectory(directory)).toThrow('in use');
    unlockAgain();
  });

  test.each(['fresh', 'stale'])('goes to exactly one of many processes that race for a %s one', async (state) => {
    const rounds = IS_FULL ? 150 : 40;
    const contenders = 6;
    for (let round = 0; round < rounds; round++) {
      mkdirSync(join(directory, String(round)));
      if (state === 'stale') writeFileSync(join(directory, String(round), 'lock.1'), '99999999');
    }
    const racing = Array.from({ length: contenders }, () => start('lock-contender.ts', directory, String(rounds)));
    for (const child of racing) expect(await child.line()).toBe('ready');
    const unfinished = join(directory, 'start.unfinished');
    writeFileSync(unfinished, String(Date.now() + 50));
    renameSync(unfinished, join(directory, 'start'));
    const wins = await Promise.all(racing.map(async (child) => JSON.parse(await child.line()) as number[]));
    expect(wins.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, round) => round));
    expect(wins.filter((won) => won.length > 0).length).toBeGreaterThan(1);
  });
});
