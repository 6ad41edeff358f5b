/** Opens the data directory given as its first argument, adds a category, and writes log until there is no room for it. */
import { openDatabase } from '../../src/database/open';

async function write(): Promise<void> {
  const database = await openDatabase({ directory: process.argv[2] ?? '', requestTimeoutMs: 60_000 });
  const { id } = await database.transaction(({ prisma }) => prisma.category.create({ data: { name: 'Dogs' } }));
  process.stdout.write(`${id}\n`);
  // In one statement: before the next one there would be a look at the disk.
  await database.transaction(
    ({ prisma }) => prisma.$executeRaw`do $$ begin
      loop perform pg_logical_emit_message(false, '', repeat('x', 1000000)); end loop;
    end $$`,
  );
}

// Its connections are closed just before the process ends with the thread of the database.
write().catch(() => undefined);
