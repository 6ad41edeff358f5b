import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Message, SOCKET } from '../database/embedded/online-copy';

const LOG = 'pg_wal';
const LOG_FILE = /^[0-9A-F]{24}$/;

/**
 * Copies the embedded database that another process has open, while it serves.
 * @param to the new directory of the copy, a database as of the end of copying.
 * @returns false if no process has it open.
 * @throws Error with a one-line message.
 */
export async function copyLive(directory: string, to: string): Promise<boolean> {
  const socket = await reach(join(directory, SOCKET));
  if (!socket) return false;
  const messages = createInterface({ input: socket })[Symbol.asyncIterator]();
  const next = async (): Promise<Partial<Record<'copy' | 'label', string>>> => {
    const line = await messages.next();
    if (line.done) throw new Error('the gateway has closed the connection');
    const answer: Message = JSON.parse(line.value);
    if ('error' in answer) throw new Error(`the gateway cannot be copied: ${answer.error}`);
    return answer;
  };
  try {
    const { copy = '' } = await next();
    await copyAll(copy, to, (path) => !(path.includes(LOG) && LOG_FILE.test(path.slice(-24))));
    socket.write('copied\n');
    const { label = '' } = await next();
    await copyAll(join(copy, LOG), join(to, LOG), (path) => LOG_FILE.test(path.slice(-24)));
    await writeFile(join(to, 'backup_label'), label);
    return true;
  } finally {
    socket.destroy();
  }
}

function reach(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Files come and go meanwhile: what is lacking then is in the log. */
async function copyAll(from: string, to: string, isWanted: (path: string) => boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const copy = join(to, path.slice(from.length));
    if (entry.isDirectory()) await mkdir(copy, { recursive: true, mode: 0o700 });
    if (!entry.isFile() || !isWanted(path)) continue;
    await copyFile(path, copy, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
