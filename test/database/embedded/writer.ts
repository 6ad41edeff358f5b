/**
 * Opens the data directory given as its first argument and keeps adding categories with one pet each, both in one
 * transaction. Prints the id of each category once it is committed.
 */
import { openDatabase } from '../../../src/database/open';

async function write(): Promise<void> {
  const database = await openDatabase({ directory: process.argv[2] ?? '' });
  for (;;) {
    const id = await database.transaction(async ({ prisma }) => {
      const category = await prisma.category.create({ data: { name: 'Dogs' } });
      await prisma.pet.create({ data: { name: 'Rex', categoryId: category.id } });
      return category.id;
    });
    process.stdout.write(`${id}\n`);
  }
}

write().catch((error: Error) => {
  process.stderr.write(error.message);
  process.exitCode = 1;
});
