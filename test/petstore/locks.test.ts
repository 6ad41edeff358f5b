import { Client } from 'pg';
import type { ChangeListener } from '../../src/database/changes';
import type { Session, Statement, Transaction } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { InventoryService } from '../../src/petstore/inventory/inventory-service';
import { OrderService } from '../../src/petstore/orders/order-service';
import { PetService } from '../../src/petstore/pets/pet-service';
import { createDatabase, emptyDatabase, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';

// The embedded database runs one transaction at a time.
const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

const STOCK = 10;

onPostgres('two changes at the same moment', () => {
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
    return inventory.nodes.map(({ petId, quantity }) => quantity + (petId === order.petId ? order.quantity : 0));
  }

  async function areWaiting(count: number): Promise<boolean> {
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
  ])('of one order %s: neither is lost, and every unit is counted once', async (_what, inputs, possible) => {
    // Both are held where they change the stock, after they have read the order.
    await other.query('begin; select from inventory for update');
    const changes = inputs.map((input) => gateway.data(`mutation { updateOrder(id: 1, input: { ${input} }) { id } }`));
    await until(() => areWaiting(2));
    await other.query('commit');
    await Promise.all(changes);
    expect(await books()).toEqual([STOCK, STOCK]);
    const { order } = await gateway.data('{ order(id: 1) { petId quantity } }');
    expect(possible).toContain(`${order?.petId}: ${order?.quantity}`);
  });

  test.each([
    ['cancelled', 'cancelOrder(id: 1) { id }', STOCK],
    ['changed', 'updateOrder(id: 1, input: { quantity: 3 }) { id }', STOCK - 3],
  ])('the pet of an order that is %s is not deleted, and neither waits for the other', async (_what, field, left) => {
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

  test('two that track stock for the first time announce one entry', async () => {
    const kinds: string[] = [];
    const listener: ChangeListener = ({ topic, kind }) => kinds.push(`${topic} ${kind}`);
    gateway.database.listeners.add(listener);
    await gateway.data('mutation { removeInventory(petId: 2) { petId } }');
    // Both are held where the entry refers to the pet.
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

  const CREATE = {
    orders: 'insert into orders (id, pet_id, quantity) values (50, 1, 2)',
    pets: "insert into pets (id, name, category_id) values (50, 'Gill', 1)",
    inventory: `with p as (insert into pets (id, name, category_id) values (50, 'Gill', 1))
      insert into inventory (pet_id, quantity) values (50, 2)`,
  };
  const orders = new OrderService();
  const pets = new PetService();

  test.each<[string, keyof typeof CREATE, (session: Session) => Promise<unknown>]>([
    ['change an order', 'orders', (session) => orders.update(session, 50n, { quantity: 3 })],
    ['cancel an order', 'orders', (session) => orders.cancel(session, 50n)],
    ['change a pet', 'pets', (session) => pets.update(session, 50n, { name: 'Bloat' })],
    ['delete a pet', 'pets', (session) => pets.delete(session, 50n)],
    ['remove stock', 'inventory', (session) => new InventoryService().remove(session, 50n)],
  ])(
    'to %s that another one creates just too late: it is not locked, so it is not found',
    async (_what, table, change) => {
      const after = async (text: string) => {
        if (new RegExp(`from ${table} .* update$`).test(text)) await other.query(CREATE[table]);
      };
      await expect(change(interrupted(gateway.database, after))).rejects.toMatchObject({ code: 'NOT_FOUND' });
      const id = table === 'inventory' ? 'pet_id' : 'id';
      expect((await other.query(`select from ${table} where ${id} = 50`)).rows).toHaveLength(1);
    },
  );
});

/** Awaits `after` when a transaction has run a statement. */
function interrupted(database: Session, after: (text: string) => Promise<void>): Session {
  const own = (session: Session, members: Partial<Transaction>) => Object.assign(Object.create(session), members);
  return own(database, {
    transaction: (work) =>
      database.transaction((tx) =>
        work(
          own(tx, {
            query: async <Row>(statement: Statement, values: readonly unknown[]) => {
              const rows = await tx.query<Row>(statement, values);
              await after(statement.text);
              return rows;
            },
          }),
        ),
      ),
  });
}
