/** Opens the data directory given as its first argument, adds a category, and writes log until there is no room for it. */
import { openDatabase } from '../../src/database/open';

async function write(): Promise<void> {
  const database = await openDatabase({ directory: process.argv[2] ?? '', requestTimeoutMs: 60_000 });
  const { id } = await database.transaction(({ prisma }) => prisma.category.create({ data: { name: 'Dogs' } }));
  process.stdout.write(`${id}\n`);
  // Rows that are removed again at once: it is the log that fills the disk.
  for (;;) {
    await database.prisma.$transaction([
      database.prisma
        .$executeRaw`create table pages as select repeat(md5(n::text), 30) from generate_series(1, 2000) n`,
      database.prisma.$executeRaw`drop table pages`,
    ]);
  }
}

void write();
