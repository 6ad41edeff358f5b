import type { Extension, PGlite } from '@electric-sql/pglite';

interface PGliteModule {
  PGlite: typeof PGlite;
  pg_trgm: Extension;
}

/**
 * Starts PGlite with the extensions that the migrations need; without a directory, in memory.
 * @param image the data directory to begin from, as PGlite dumps it.
 */
export async function startEngine(directory?: string, image?: Blob): Promise<PGlite> {
  const { PGlite: Engine, pg_trgm } =
    (globalThis as { pgliteModule?: PGliteModule }).pgliteModule ?? (await loadModule());
  const engine = await Engine.create({ dataDir: directory, loadDataDir: image, extensions: { pg_trgm } });
  // Prisma writes and reads timestamps as if every session were in UTC; PGlite takes the zone of this process.
  await engine.exec("set timezone to 'UTC'");
  return engine;
}

async function loadModule(): Promise<PGliteModule> {
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  return { PGlite, pg_trgm } as unknown as PGliteModule;
}
