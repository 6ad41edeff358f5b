import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { migrateOn } from '../../src/database/embedded';
import { startEngine } from '../../src/database/engine';
import { MIGRATIONS_DIRECTORY } from '../../src/database/migrations';

const PROJECT = join(__dirname, '..', '..');
const CACHE = join(PROJECT, 'node_modules', '.cache', 'petstore-test');

/**
 * Starts a migrated, empty embedded database in memory. Creating one takes seconds, so it is created once per set of
 * migrations; later ones start from its image.
 */
export async function startMigrated(): Promise<PGlite> {
  const image = join(CACHE, `${imageKey()}.tar`);
  const known = read(image);
  const engine = await startEngine(undefined, known && new Blob([new Uint8Array(known)]));
  await migrateOn(engine);
  if (!known) await save(engine, image);
  return engine;
}

/** Replaces the images of other migrations. */
async function save(engine: PGlite, image: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  for (const file of readdirSync(CACHE))
    if (file.endsWith('.tar')) rmSync(join(CACHE, file), { force: true });
  const unfinished = join(CACHE, randomUUID());
  writeFileSync(unfinished, Buffer.from(await (await engine.dumpDataDir('none')).arrayBuffer()));
  renameSync(unfinished, image);
}

/** A hash of everything the image depends on. */
function imageKey(): string {
  const files = readdirSync(MIGRATIONS_DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(MIGRATIONS_DIRECTORY, name));
  const hash = createHash('sha256');
  for (const file of [...files, join(PROJECT, 'package-lock.json')]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
