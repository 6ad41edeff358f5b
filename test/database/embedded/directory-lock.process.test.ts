import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DirectoryLock, lockDirectory } from '../../../src/database/embedded/directory-lock';
import { isHeld } from '../../../src/database/embedded/lock-proof';
import { IS_FULL } from '../../helper/full';
import { type Program, runTypeScript } from '../../helper/process';
import { COMPETITORS } from './competitors';

/** Node's module itself. An import would be a copy, whose functions cannot be replaced. */
const fs = jest.requireActual<typeof import('node:fs')>('node:fs');

/** The interval of renewals. After ten intervals, or two seconds, a lock without an owner is taken over. */
const BEAT_MS = 200;

let above: string;
let directory: string;
const started: Program[] = [];
const held: DirectoryLock[] = [];
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'petstore-lock-'));
  directory = join(above, 'data');
  mkdirSync(directory);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const { release } of held.splice(0)) release();
  await Promise.all(started.splice(0).map((process) => process.stop('SIGKILL')));
  rmSync(above, { recursive: true });
});

function start(...args: string[]): Program {
  const process = runTypeScript('test/database/embedded/lock-process.ts', [directory, String(BEAT_MS), ...args]);
  started.push(process);
  return process;
}

/** Starts a process that holds the lock. */
async function startOwner(): Promise<Program> {
  const owner = start();
  await owner.printed(1);
  return owner;
}

async function lock(path = directory): Promise<DirectoryLock> {
  const acquired = await lockDirectory(path, BEAT_MS);
  held.push(acquired);
  return acquired;
}

/** The names of the locks in the directory. */
const locks = () => readdirSync(directory).filter((name) => name.startsWith('lock.'));
const inLock = (name: string) => join(directory, ...locks(), name);

/** Creates a socket as a killed process leaves it. */
function leaveSocket(path: string): void {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', program]);
}

/** Changes the lock to the state in which another host sees it: the socket refuses connections. */
function seeFromAnotherHost(): void {
  rmSync(inLock('socket'));
  leaveSocket(inLock('socket'));
  writeFileSync(inLock('owner'), JSON.stringify({ pid: 4711, host: 'another-host', isLocal: false }));
}

/** Changes the lock to the state in which a file system without sockets leaves it. */
function seeWithoutSocket(): void {
  rmSync(inLock('socket'));
}

describe('a second process is rejected', () => {
  test('with a one-line error that contains the pid of the first', async () => {
    const first = await startOwner();
    const { code, stderr } = await start().ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${directory} is in use by process ${first.pid}. Stop it, or set DATA_DIR to another directory.`,
    });
  });

  test('at once while the first is stopped, even after more starts than its socket has room for connections', async () => {
    const first = await startOwner();
    process.kill(first.pid, 'SIGSTOP');
    const { stderr } = await start().ended;
    for (let attempt = 0; attempt < 600; attempt++) {
      await expect(lockDirectory(directory)).rejects.toThrow(`in use by process ${first.pid}. `);
    }
    expect(stderr).toMatch(/^\S+ is in use by process \d+\. [^\n]*$/);
  });

  test('if the path is longer than the path of a socket may be', async () => {
    const long = join(directory, 'long'.repeat(50));
    mkdirSync(long);
    const { release } = await lock(long);
    await expect(lock(long)).rejects.toThrow(`in use by process ${process.pid}. `);
    release();
    expect(readdirSync(join(long, 'lock.1'))).toEqual(['owner']);
    await lock(long);
  });

  test('if it uses another path of the directory, even after the directory was moved', async () => {
    const path = `${directory}/../${directory.split('/').pop()}`;
    await startOwner();
    await expect(lock(path)).rejects.toThrow('in use by process');
    renameSync(directory, `${directory}-moved`);
    await expect(lock(`${directory}-moved`)).rejects.toThrow('in use by process');
  });

  test.each([
    ['on another host', seeFromAnotherHost, 'process 4711 on another-host'],
    ['without sockets', seeWithoutSocket, 'process \\d+'],
  ])('%s, since the first renews its lock, even if the clocks differ', async (_, see, name) => {
    await startOwner();
    see();
    const beat = inLock(String(readdirSync(join(directory, ...locks())).find((each) => each.startsWith('beat.'))));
    utimesSync(beat, 0, 0);
    await expect(lock()).rejects.toThrow(new RegExp(`in use by ${name}\\. `));
    utimesSync(beat, 2 ** 32, 2 ** 32);
    await expect(lock()).rejects.toThrow(new RegExp(`in use by ${name}\\. `));
  });
});

test('a process cannot lock a directory twice', async () => {
  const { release } = await lock();
  await expect(lock()).rejects.toThrow(`by process ${process.pid}. `);
  release();
  await lock();
});

test('a process cannot lock a directory twice if its file system has no sockets', async () => {
  jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    this.emit('error', new Error('EOPNOTSUPP'));
    return this;
  });
  const { release } = await lock();
  expect(existsSync(inLock('socket'))).toBe(false);
  await expect(lock()).rejects.toThrow(`by process ${process.pid}. `);
  release();
  const from = Date.now();
  await lock();
  expect(Date.now() - from).toBeLessThan(BEAT_MS * 5);
});

describe('a lock is acquired at once', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('after its owner ended with %s', async (signal) => {
    const first = await startOwner();
    await first.stop(signal);
    const second = await startOwner();
    expect(second.stderr).toBe('');
    expect(locks()).toEqual(['lock.2']);
  });

  test('after its owner released it on another host', async () => {
    const first = await startOwner();
    await first.stop('SIGTERM');
    expect(readdirSync(join(directory, 'lock.1'))).toEqual(['owner']);
    expect((await startOwner()).stderr).toBe('');
  });

  test('in a copy of a directory that another process has locked', async () => {
    await startOwner();
    execFileSync('cp', ['-a', directory, `${directory}-copy`]);
    await lock(`${directory}-copy`);
    expect(await start().ended).toMatchObject({ code: 1 });
  });
});

test.each([
  ['on another host', seeFromAnotherHost, 'process 4711 on another-host'],
  ['without sockets', seeWithoutSocket, 'process \\d+'],
])('a lock whose owner was killed %s is acquired after a time that a message names', async (_, see, name) => {
  const first = await startOwner();
  await first.stop('SIGKILL');
  see();
  const from = Date.now();
  const second = await startOwner();
  expect(Date.now() - from).toBeGreaterThan(BEAT_MS * 10);
  expect(second.stderr).toMatch(
    new RegExp(
      `^petstore-gateway: ${directory} was last used by (${name})\\. This process cannot see whether \\1 still runs, so the start waits for up to 2 s\\.\n$`,
    ),
  );
});

test('a copy without its socket is acquired after the time that the message names', async () => {
  await startOwner();
  const copy = `${directory}-copy`;
  cpSync(directory, copy, { recursive: true, filter: (file) => !file.endsWith('socket') });
  const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await lock(copy);
  expect(write).toHaveBeenCalledWith(expect.stringContaining(`${copy} was last used by process`));
});

describe('a process that loses its lock ends with 75 and a one-line error', () => {
  const lost = {
    code: 75,
    stderr: expect.stringMatching(/^petstore-gateway: this process no longer holds the lock of \S+, and stops .*\n$/),
  };

  test('after it was stopped, and another host has taken over', async () => {
    const first = await startOwner();
    seeFromAnotherHost();
    process.kill(first.pid, 'SIGSTOP');
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { proof } = await lock();
    process.kill(first.pid, 'SIGCONT');
    expect(await first.ended).toMatchObject(lost);
    expect(isHeld(proof)).toBe(true);
    await expect(lock()).rejects.toThrow(`by process ${process.pid}. `);
  });

  test('after the directory was deleted', async () => {
    const first = await startOwner();
    rmSync(directory, { recursive: true });
    expect(await first.ended).toMatchObject(lost);
    mkdirSync(directory);
  });

  test('after the directory was moved, and another process has locked a new directory in its place', async () => {
    const first = await startOwner();
    renameSync(directory, `${directory}-moved`);
    mkdirSync(directory);
    const { proof } = await lock();
    expect(await first.ended).toMatchObject(lost);
    expect(locks()).toEqual(['lock.1']);
    expect(isHeld(proof)).toBe(true);
  });
});

describe('a lock file of a version before 1.0', () => {
  const startOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')[19];

  test.each(['', 'garbage', '0', '-1', '99999999', String(process.pid)])(
    'that contains %j is taken over',
    async (owner) => {
      writeFileSync(join(directory, 'lock.41'), owner);
      writeFileSync(join(directory, 'lock.7'), String(process.ppid));
      await lock();
      expect(locks()).toEqual(['lock.42']);
    },
  );

  // The file contains the start time of its process only on Linux.
  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('is respected while its owner runs, and taken over if the pid was reused', async () => {
    const file = join(directory, 'lock.1');
    writeFileSync(file, `${process.ppid} ${startOf(process.ppid)}`);
    await expect(lock()).rejects.toThrow(`in use by process ${process.ppid}. `);
    writeFileSync(file, `${process.ppid} 1`);
    await lock();
  });
});

describe('a process that was paused while it took a lock', () => {
  /** Creates the lock of a process on another host that renews it. */
  function lockFromAnotherHost(): void {
    const newer = join(directory, 'lock.2');
    mkdirSync(newer);
    writeFileSync(join(newer, 'owner'), JSON.stringify({ pid: 4711, host: 'another-host', isLocal: false }));
    const renew = () => writeFileSync(join(newer, 'beat.0'), String(Date.now()));
    renew();
    renewing = setInterval(renew, BEAT_MS);
  }
  let renewing: NodeJS.Timeout;
  afterEach(() => clearInterval(renewing));

  test('is rejected if a newer lock exists', async () => {
    const { renameSync: rename } = fs;
    jest.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      rename(from, to);
      lockFromAnotherHost();
    });
    await expect(lock()).rejects.toThrow('in use by process 4711 on another-host. ');
    expect(locks()).toEqual(['lock.2']);
  });

  test('does not delete a lock that another process took after the last check', async () => {
    const { rmSync: remove, renameSync: rename } = fs;
    jest.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      rename(from, to);
      // The next list of locks is read for the last check.
      const { readdirSync: list } = fs;
      jest.spyOn(fs, 'readdirSync').mockImplementationOnce(((path: string) => {
        const names = list(path);
        remove(join(directory, 'lock.1'), { recursive: true });
        lockFromAnotherHost();
        return names;
      }) as typeof fs.readdirSync);
    });
    const { proof } = await lock();
    expect(isHeld(proof)).toBe(false);
    expect(locks()).toEqual(['lock.2']);
  });
});

test('releasing a lock twice does not release the lock of a later owner', async () => {
  const { release } = await lock();
  release();
  await lock();
  release();
  await expect(lock()).rejects.toThrow('in use');
});

test('a directory that the process may not write is rejected with a one-line error', async () => {
  chmodSync(above, 0o755);
  chmodSync(directory, 0o555);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.('nobody');
  try {
    await expect(lock()).rejects.toThrow(
      /^DATA_DIR \S+ cannot be used: EACCES: .*Set DATA_DIR to a directory that .*\.$/,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

/** Prepares a lock for a race. */
const STATES: Record<string, (path: string, dead: string) => void> = {
  'a fresh lock': () => undefined,
  'the lock of a killed process': (path, dead) => execFileSync('cp', ['-a', `${dead}/.`, path]),
  'a lock file of a version before 1.0': (path) => writeFileSync(join(path, 'lock.1'), '99999999'),
  'the lock of a killed process on another host': (path, dead) => {
    execFileSync('cp', ['-a', `${dead}/.`, path]);
    rmSync(join(path, 'lock.1', 'socket'));
  },
};

test.each(Object.entries(STATES))(
  `exactly one of ${COMPETITORS} processes that compete for %s acquires it`,
  async (state, prepare) => {
    const dead = join(above, 'dead');
    const first = await startOwner();
    await first.stop('SIGKILL');
    renameSync(directory, dead);
    mkdirSync(directory);
    const many = IS_FULL ? 150 : 40;
    const rounds = Array.from({ length: state.endsWith('host') ? 5 : many }, (_, round) => round);
    for (const round of rounds) {
      mkdirSync(join(directory, String(round)));
      prepare(join(directory, String(round)), dead);
    }
    const racing = Array.from({ length: COMPETITORS }, () => start(String(rounds.length)));
    await Promise.all(racing.map((process) => process.printed(1)));
    writeFileSync(join(directory, 'start.unfinished'), String(Date.now() + 50));
    renameSync(join(directory, 'start.unfinished'), join(directory, 'start'));
    const printed = await Promise.all(racing.map((process) => process.printed(2)));
    const locked = printed.map(([, line = '']) => JSON.parse(line) as number[]);
    expect(locked.flat().sort((a, b) => a - b)).toEqual(rounds);
    const winners = locked.filter(({ length }) => length > 0).length;
    expect(winners).toBeGreaterThan(rounds.length < many ? 0 : 1);
  },
);
