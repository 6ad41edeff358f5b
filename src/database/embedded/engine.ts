import type { PGlite } from '@electric-sql/pglite';

/**
 * Starts PGlite with the extensions that the migrations need; in memory if no directory is given.
 * @param image the data directory to start from, as dumped by PGlite.
 */
export async function startEngine(directory?: string, image?: Blob): Promise<PGlite> {
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  const engine = await PGlite.create({ dataDir: directory, loadDataDir: image, extensions: { pg_trgm } });
  // Prisma writes and reads timestamps as if every session were in UTC; PGlite defaults to this process's time zone.
  await engine.exec("set timezone to 'UTC'");
  // The types of a package's ES module and of its CommonJS module are not the same to the compiler.
  return engine as unknown as PGlite;
}
