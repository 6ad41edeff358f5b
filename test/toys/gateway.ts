import { statement } from '../../src/database/statement';
import { createDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { CREATE_TABLE, toyDomains } from './toys';

/** Starts the application with toys as its domain, in a database that has their table. */
export async function startToys(environment: Record<string, string> = {}, now = Date.now): Promise<Gateway> {
  const { database, drop } = await createDatabase();
  await database.query(CREATE_TABLE, []);
  const remove = async () => {
    // The next test file that gets the database must find only the tables of the product.
    await database.query(statement('drop table toys'), []);
    await drop();
  };
  return startGateway(environment, now, { database, drop: remove }, toyDomains);
}
