import { Client } from 'pg';
import type { ChangeListener } from '../../src/database/database';
import { createDatabase, fillShop, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';

// These tests need a PostgreSQL server, because the embedded database runs one transaction at a time.
const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

const STOCK = 10;

onPostgres('two concurrent changes', () => {
  let gateway: Gateway;
  let other: Client;
  beforeAll(async () => {
    const created = await createDatabase();
    gateway = await startGateway({}, Date.now, created);
    other = new Client({ connectionString: created.url });
    await other.connect();
  });
  beforeEach(async () => {
    // Creates an order that reserves two units of pet 1.
    await fillShop(gateway.database);
    await gateway.data(`mutation {
      a: setInventory(petId: 1, input: { quantity: ${STOCK - 2} }) { petId }
      b: setInventory(petId: 2, input: { quantity: ${STOCK} }) { petId }
    }`);
  });
  afterAll(async () => {
    await other.end();
    await gateway.close();
  });

  async function areWaiting(count: number): Promise<boolean> {
    // Within a transaction, PostgreSQL reads the activity only once, unless the snapshot is cleared.
    await other.query('select pg_stat_clear_snapshot()');
    const { rows } = await other.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length === count;
  }

  async function deadlocks(): Promise<string> {
    const { rows } = await other.query('select deadlocks from pg_stat_database where datname = current_database()');
    return rows[0].deadlocks;
  }

  test.each([
    ['to other quantities', ['quantity: 3', 'quantity: 4'], ['1: 3', '1: 4']],
    ['to another pet', ['petId: 2', 'petId: 2'], ['2: 2']],
    ['to another pet and another quantity', ['petId: 2', 'quantity: 5'], ['2: 5']],
  ])('of one order %s are both applied, and every unit is counted once', async (_what, inputs, possible) => {
    // The lock makes both changes wait when they update the stock. By then they have read the order.
    await other.query('begin; select from inventory for update');
    const changes = inputs.map((input) => gateway.data(`mutation { updateOrder(id: 1, input: { ${input} }) { id } }`));
    await until(() => areWaiting(2));
    await other.query('commit');
    await Promise.all(changes);
    const { order, inventory } = await gateway.data<{
      order: { petId: string; quantity: number };
      inventory: { nodes: { petId: string; quantity: number }[] };
    }>('{ order(id: 1) { petId quantity } inventory { nodes { petId quantity } } }');
    expect(possible).toContain(`${order.petId}: ${order.quantity}`);
    const units = inventory.nodes.map(({ petId, quantity }) => quantity + (petId === order.petId ? order.quantity : 0));
    expect(units).toEqual([STOCK, STOCK]);
  });

  test.each([
    ['cancelled', 'cancelOrder(id: 1) { id }', STOCK],
    ['changed', 'updateOrder(id: 1, input: { quantity: 3 }) { id }', STOCK - 3],
  ])('cause no deadlock if deletePet runs while the order is %s, and the pet is kept', async (_what, field, left) => {
    const before = await deadlocks();
    await other.query('begin; select from inventory for update');
    const deleted = gateway.graphql('mutation { deletePet(id: 1) { id } }');
    await until(() => areWaiting(1));
    const changed = gateway.data(`mutation { ${field} }`);
    await until(() => areWaiting(2));
    await other.query('commit');
    expect((await deleted).errors[0]?.extensions?.code).toBe('PET_HAS_ORDERS');
    await changed;
    expect(await deadlocks()).toBe(before);
    const { inventoryItem } = await gateway.data('{ inventoryItem(petId: 1) { quantity } }');
    expect(inventoryItem).toEqual({ quantity: left });
  });

  test('that both start to track the stock of a pet publish only one creation of the inventory entry', async () => {
    const kinds: string[] = [];
    const listener: ChangeListener = ({ topic, kind }) => kinds.push(`${topic} ${kind}`);
    gateway.database.listeners.add(listener);
    await gateway.data('mutation { removeInventory(petId: 2) { petId } }');
    // The lock makes both changes wait when they insert the entry, which refers to the pet.
    await other.query('begin; select from pets for update');
    const set = [3, 4].map((quantity) =>
      gateway.data(`mutation { setInventory(petId: 2, input: { quantity: ${quantity} }) { quantity } }`),
    );
    await until(() => areWaiting(2));
    await other.query('commit');
    const answers = (await Promise.all(set)).map((data) => data.setInventory);
    gateway.database.listeners.delete(listener);
    expect(answers).toEqual([{ quantity: 3 }, { quantity: 4 }]);
    expect(kinds).toEqual(['inventory DELETED', 'inventory CREATED', 'inventory UPDATED']);
  });

  test('publish the deletion of an inventory entry that is added while deletePet waits for the pet', async () => {
    await gateway.data('mutation { removeInventory(petId: 2) { petId } }');
    const kinds: string[] = [];
    const listener: ChangeListener = ({ topic, kind }) => kinds.push(`${topic} ${kind}`);
    gateway.database.listeners.add(listener);
    // deletePet waits for this lock, but a new inventory entry does not.
    await other.query('begin; select from pets for no key update');
    const deleted = gateway.data('mutation { deletePet(id: 2) { id } }');
    await until(() => areWaiting(1));
    await gateway.data('mutation { setInventory(petId: 2, input: { quantity: 5 }) { quantity } }');
    await other.query('commit');
    await deleted;
    gateway.database.listeners.delete(listener);
    expect(kinds).toEqual(['inventory CREATED', 'pet DELETED', 'inventory DELETED']);
  });
});
