/** Opens the data directory given as the first argument, adds a category, and fills the disk with write-ahead log. */
import { openDatabase } from '../../src/database/open';

async function write(): Promise<void> {
  const database = await openDatabase({ directory: process.argv[2] ?? '', requestTimeoutMs: 60_000 });
  const { id } = await database
    .serviceSession()
    .transaction(({ prisma }) => prisma.category.create({ data: { name: 'Dogs' } }));
  process.stdout.write(`${id}\n`);
  // Writes everything in one transaction, because the gateway checks the free disk space before each transaction.
  await database.serviceSession().transaction(
    ({ prisma }) => prisma.$executeRaw`do $$ begin
      loop perform pg_logical_emit_message(false, '', repeat('x', 1000000)); end loop;
    end $$`,
  );
}

// The transaction rejects when its connection closes, just before the database thread ends the process.
write().catch(() => undefined);
