import { Client } from 'pg';
import { statement } from '../../src/database/statement';
import { createDatabase, emptyDatabase, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';

// The embedded database runs one transaction at a time.
const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

const STOCK = 10;

onPostgres('two changes of one order at the same moment', () => {
  let gateway: Gateway;
  let other: Client;
  beforeAll(async () => {
    const created = await createDatabase();
    gateway = await startGateway({}, Date.now, created);
    other = new Client({ connectionString: created.url });
    await other.connect();
  });
  beforeEach(async () => {
    await emptyDatabase(gateway.database);
    for (const rows of [
      "categories (name) values ('Fish')",
      "pets (name, category_id) values ('Nemo', 1), ('Dory', 1)",
      `inventory (pet_id, quantity) values (1, ${STOCK}), (2, ${STOCK})`,
    ])
      await gateway.database.query(statement(`insert into ${rows}`), []);
    await gateway.data('mutation { placeOrder(input: { petId: 1, quantity: 2 }) { id } }');
  });
  afterAll(async () => {
    await other.end();
    await gateway.close();
  });

  /** Units of each pet, in stock and in the order. */
  async function books(): Promise<number[]> {
    const { order, inventory } = await gateway.data<{
      order: { petId: string; quantity: number };
      inventory: { nodes: { petId: string; quantity: number }[] };
    }>('{ order(id: 1) { petId quantity } inventory { nodes { petId quantity } } }');
    return inventory.nodes.map(
      ({ petId, quantity }) => quantity + (petId === order.petId ? order.quantity : 0),
    );
  }

  async function areWaiting(count: number): Promise<boolean> {
    const { rows } = await other.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length === count;
  }

  test.each([
    ['to other quantities', ['quantity: 3', 'quantity: 4'], ['1: 3', '1: 4']],
    ['to another pet', ['petId: 2', 'petId: 2'], ['2: 2']],
    ['to another pet and another quantity', ['petId: 2', 'quantity: 5'], ['2: 5']],
  ])('%s: neither is lost, and every unit is counted once', async (_what, inputs, possible) => {
    // Both are held where they change the stock, after they have read the order.
    await other.query('begin; select from inventory for update');
    const changes = inputs.map((input) =>
      gateway.data(`mutation { updateOrder(id: 1, input: { ${input} }) { id } }`),
    );
    await until(() => areWaiting(2));
    await other.query('commit');
    await Promise.all(changes);
    expect(await books()).toEqual([STOCK, STOCK]);
    const { order } = await gateway.data('{ order(id: 1) { petId quantity } }');
    expect(possible).toContain(`${order?.petId}: ${order?.quantity}`);
  });
});
