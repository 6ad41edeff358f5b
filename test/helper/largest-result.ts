import type { GatewayDatabase } from '../../src/database/gateway-database';

/** @returns the size in bytes of the largest result among all statements that `run` executes. */
export async function largestResult(database: GatewayDatabase, run: () => Promise<unknown>): Promise<number> {
  let most = 0;
  const query = database.query.bind(database);
  const spy = jest.spyOn(database, 'query').mockImplementation(async (...read) => {
    const rows = await query(...read);
    const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    most = Math.max(most, Buffer.byteLength(text));
    return rows as never[];
  });
  await run();
  spy.mockRestore();
  return most;
}
