import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDirectory } from '../../src/database/embedded/cluster';
import { DatabaseThread } from '../../src/database/embedded/database-thread';
import { MIGRATIONS_DIRECTORY } from '../../src/database/migrations';
import { openDatabase } from '../../src/database/open';
import { PROJECT } from './command';

const CACHE = join(PROJECT, 'node_modules', '.cache', 'petstore-test');

/** An empty, migrated data directory, and an image of it. They are kept because creating them takes seconds. */
const DIRECTORY = join(CACHE, `data-${keyOfEverything()}`);
const IMAGE = join(DIRECTORY, 'image.tar');

/** Creates the data directory unless it exists for these migrations and packages. Deletes all other data directories. */
export async function prepare(): Promise<void> {
  if (existsSync(IMAGE)) return;
  mkdirSync(CACHE, { recursive: true });
  for (const name of readdirSync(CACHE)) if (name.startsWith('data-')) rmSync(join(CACHE, name), { recursive: true });
  await (await openDatabase({ directory: DIRECTORY })).close();
  const { engine, close } = await openDirectory(DIRECTORY);
  const image = Buffer.from(await (await engine.dumpDataDir('none')).arrayBuffer());
  await close();
  writeFileSync(`${IMAGE}.unfinished`, image);
  renameSync(`${IMAGE}.unfinished`, IMAGE);
}

/** Starts an embedded database in memory, empty, with all migrations. */
export function startPrepared(): Promise<DatabaseThread> {
  return DatabaseThread.start({ image: IMAGE });
}

/** Copies the migrated, empty database into a data directory, as if the gateway had been started there before. */
export function copyData(directory: string): void {
  cpSync(join(DIRECTORY, 'postgres'), join(directory, 'postgres'), { recursive: true });
}

/** A hash of everything on which the data directory depends. */
function keyOfEverything(): string {
  const files = readdirSync(MIGRATIONS_DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(MIGRATIONS_DIRECTORY, name));
  const hash = createHash('sha256');
  for (const file of [...files, join(PROJECT, 'package-lock.json')]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
