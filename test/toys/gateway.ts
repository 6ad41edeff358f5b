import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { createDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { CREATE_BOXES } from './boxes';
import { CREATE_TABLE, toyDomains } from './toys';

/** Starts the application with toys as its domain. The database also has the tables of toys and boxes. */
export async function startToys(environment: Record<string, string> = {}, now = Date.now): Promise<Gateway> {
  const { database, drop } = await createDatabase();
  for (const table of [CREATE_BOXES, CREATE_TABLE]) await database.serviceSession().query(table, []);
  const remove = async () => {
    // The next test file that uses the database must find only the tables of the product.
    await database.serviceSession().query(statement('drop table toys, boxes'), []);
    await drop();
  };
  return startGateway(environment, now, { database, drop: remove }, toyDomains);
}

/** Replaces all rows with boxes 1 and 2, and toys 1, 2 and 3. Toys 1 and 2 are in box 1. */
export async function fillToys(database: Database): Promise<void> {
  const add = `with b as (insert into boxes (name) values ('Wheels'), ('Dolls'))
    insert into toys (name, box_id) values ('Train', 1), ('Ball', 1), ('Doll', 2)`;
  for (const text of ['truncate boxes, toys restart identity', add])
    await database.serviceSession().query(statement(text), []);
}
