import type { Extension, PGlite } from '@electric-sql/pglite';

interface PGliteModule {
  PGlite: typeof PGlite;
  pg_trgm: Extension;
}

/**
 * Starts PGlite with the extensions that the migrations need; in memory if no directory is given.
 * @param image the data directory to start from, as dumped by PGlite.
 */
export async function startEngine(directory?: string, image?: Blob): Promise<PGlite> {
  const { PGlite: Engine, pg_trgm } =
    (globalThis as { pgliteModule?: PGliteModule }).pgliteModule ?? (await loadModule());
  const engine = await Engine.create({ dataDir: directory, loadDataDir: image, extensions: { pg_trgm } });
  // Prisma writes and reads timestamps as if every session were in UTC; PGlite defaults to this process's time zone.
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
