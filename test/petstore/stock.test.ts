import fc from 'fast-check';
import { statement } from '../../src/database/statement';
import { emptyDatabase } from '../helper/database';
import { IS_FULL, runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => emptyDatabase(gateway.database));
afterAll(() => gateway.close());

/** Creates pets 1, 2, … with these stocks. */
async function stock(...quantities: number[]): Promise<void> {
  await gateway.database.serviceSession().query(
    statement(`with
      c as (insert into categories (name) values ('Fish') returning id),
      p as (insert into pets (name, category_id) select 'Nemo', id from c, unnest($1::int[]) returning id)
      insert into inventory (pet_id, quantity) select id, ($1::int[])[id] from p`),
    [quantities],
  );
}

interface OrderAnswer {
  id: string;
  petId: string | null;
  quantity: number | null;
  complete: boolean;
}

/** Runs an order mutation. @returns the order, or the error code, which must be in `allowed`. */
async function change(mutation: string, variables: object, ...allowed: string[]): Promise<OrderAnswer | string> {
  const { data, errors } = await gateway.graphql<Record<string, OrderAnswer>>(mutation, variables);
  const code = String(errors[0]?.extensions?.code);
  if (errors.length && !allowed.includes(code)) throw new Error(JSON.stringify(errors));
  return data?.order ?? code;
}

const ORDER = '{ id petId quantity complete }';
const PLACE = `mutation ($input: NewOrder!) { order: placeOrder(input: $input) ${ORDER} }`;
const UPDATE = `mutation ($id: ID!, $input: OrderUpdate!) { order: updateOrder(id: $id, input: $input) ${ORDER} }`;
const CANCEL = `mutation ($id: ID!) { order: cancelOrder(id: $id) ${ORDER} }`;

const place = (petId: number, quantity: number, ...allowed: string[]) =>
  change(PLACE, { input: { petId, quantity } }, 'INSUFFICIENT_STOCK', ...allowed);
const update = (id: number | string, input: object) =>
  change(UPDATE, { id, input }, 'INSUFFICIENT_STOCK', 'ORDER_COMPLETE', 'NOT_FOUND');
const cancel = (id: number | string) => change(CANCEL, { id }, 'NOT_FOUND');

/** The units in stock (`left`) and reserved by orders (`held`) for each pet, read directly from the tables. */
async function books(): Promise<{ petId: bigint; left: number; held: number }[]> {
  return gateway.database.serviceSession().query(
    statement(`select i.pet_id as "petId", i.quantity as left, coalesce(sum(o.reserved), 0)::int as held
      from inventory i left join orders o on o.pet_id = i.pet_id group by i.pet_id order by 1`),
    [],
  );
}

/** The tests place up to 5 × `MANY` orders at once: fewer than 250, the limit of requests in progress per caller. */
const MANY = IS_FULL ? 48 : 20;

describe('many concurrent orders for few units', () => {
  test('sell exactly the units in stock', async () => {
    await stock(2 * MANY);
    const answers = await Promise.all(Array.from({ length: 5 * MANY }, () => place(1, 1)));
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(2 * MANY);
    expect(answers.filter((answer) => answer === 'INSUFFICIENT_STOCK')).toHaveLength(3 * MANY);
    expect(await books()).toEqual([{ petId: 1n, left: 0, held: 2 * MANY }]);
  });

  test('sell all units, or all but one, if each order is for several units', async () => {
    await stock(100);
    const answers = await Promise.all(Array.from({ length: 40 + 2 * MANY }, (_, index) => place(1, 2 + (index % 3))));
    const sold = answers.map((answer) => (typeof answer === 'object' ? (answer.quantity ?? 0) : 0));
    const total = sold.reduce((sum, quantity) => sum + quantity, 0);
    expect(total).toBeGreaterThanOrEqual(99);
    expect(await books()).toEqual([{ petId: 1n, left: 100 - total, held: total }]);
  });

  test('return each unit only once when each order is cancelled twice at the same time', async () => {
    await stock(60);
    const orders = await Promise.all(Array.from({ length: 60 }, () => place(1, 1)));
    const ids = orders.map((order) => (typeof order === 'object' ? order.id : ''));
    const answers = await Promise.all([...ids, ...ids].map((id) => cancel(id)));
    expect(answers.filter((answer) => answer === 'NOT_FOUND')).toHaveLength(60);
    expect(await books()).toEqual([{ petId: 1n, left: 60, held: 0 }]);
  });

  test('never reserve a unit twice while other orders are enlarged', async () => {
    await stock(50);
    for (let index = 0; index < 20; index++) await place(1, 1);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 ? place(1, 1) : update(1 + ((index / 2) % 20), { quantity: 3 }),
      ),
    );
    expect(answers).toContain('INSUFFICIENT_STOCK');
    const [{ left, held } = { left: -1, held: -1 }] = await books();
    expect(left + held).toBe(50);
    expect(left).toBeLessThan(2);
  });
});

describe('orders moved between two pets', () => {
  test('in both directions at once neither block each other nor lose a unit', async () => {
    await stock(40, 40);
    for (let index = 0; index < 20; index++) await place(1 + (index % 2), 2);
    const moves = Array.from({ length: 2 * MANY }, (_, index) =>
      update(1 + (index % 20), { petId: 1 + ((index + (index >> 4)) % 2) }),
    );
    expect(await Promise.all(moves)).not.toContain('NOT_FOUND');
    const [first, second] = await books();
    expect([first, second].map((book) => (book?.left ?? 0) + (book?.held ?? 0))).toEqual([40, 40]);
    expect((first?.held ?? 0) + (second?.held ?? 0)).toBe(40);
  });

  test('reserve units of exactly one pet if the same order is moved in both directions at once', async () => {
    await stock(5, 5);
    await place(1, 5);
    for (let round = 0; round < 10; round++) {
      await Promise.all([
        update(1, { petId: 1 }),
        update(1, { petId: 2 }),
        update(1, { petId: 1 }),
        update(1, { petId: 2 }),
      ]);
      const lefts = (await books()).map(({ left }) => left).sort();
      expect(lefts).toEqual([0, 5]);
    }
  });
});

describe('any mix of concurrent changes', () => {
  const pet = fc.integer({ min: 1, max: 3 });
  const quantity = fc.integer({ min: 1, max: 6 });
  const order = fc.integer({ min: 1, max: 40 });
  interface Step {
    cancels: boolean;
    take(): Promise<OrderAnswer | string>;
  }
  const step = (weight: number, take: fc.Arbitrary<Step['take']>, cancels = false) => ({
    weight,
    arbitrary: take.map((take): Step => ({ cancels, take })),
  });
  const changed = (input: fc.Arbitrary<object>) =>
    fc.tuple(order, input).map(
      ([o, i]) =>
        () =>
          update(o, i),
    );
  const steps = fc.oneof(
    step(
      4,
      fc.tuple(pet, quantity).map(
        ([p, q]) =>
          () =>
            place(p, q),
      ),
    ),
    step(8, changed(fc.record({ quantity, petId: pet }, { requiredKeys: [] }))),
    step(3, changed(fc.constantFrom({ petId: null }, { quantity: null, shipDate: null }, { complete: true }))),
    step(
      2,
      order.map((o) => () => cancel(o)),
      true,
    ),
  );

  test('loses no unit, and sells no unit twice', async () => {
    const run = async (steps: Step[]) => {
      await emptyDatabase(gateway.database);
      await stock(20, 20, 20);
      const shipped = [0, 0, 0];
      await Promise.all(
        steps.map(async ({ cancels, take }) => {
          const answer = await take();
          if (!cancels || typeof answer === 'string' || !answer.complete || !answer.petId) return;
          // The cancelled order was complete: its units were shipped, and are not returned to stock.
          const index = Number(answer.petId) - 1;
          shipped[index] = (shipped[index] ?? 0) + (answer.quantity ?? 0);
        }),
      );
      const found = await books();
      expect(found.map(({ left, held }, index) => left + held + (shipped[index] ?? 0))).toEqual([20, 20, 20]);
      const wrong =
        'select id from orders where reserved <> case when pet_id is null then 0 else coalesce(quantity, 0) end';
      expect(await gateway.database.serviceSession().query(statement(wrong), [])).toEqual([]);
    };
    const all = fc.array(steps, { minLength: MANY, maxLength: 2 * MANY, size: 'max' });
    await fc.assert(fc.asyncProperty(all, run), { ...runs(2, 10), endOnFailure: true });
  });
});

describe('while orders for a pet are placed', () => {
  /** For each of twelve pets with nine units, runs the mutation at the same time as six orders of one unit. */
  async function amongOrders(mutation: (petId: number) => string, ...allowed: string[]) {
    await stock(...Array(12).fill(9));
    return Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const placeOne = () => place(index + 1, 1, ...allowed);
        const before = Array.from({ length: index % 3 }, placeOne);
        const answer = gateway.graphql(mutation(index + 1));
        const after = Array.from({ length: 6 - before.length }, placeOne);
        const placed = (await Promise.all([...before, ...after])).filter((order) => typeof order === 'object').length;
        return { code: (await answer).errors[0]?.extensions?.code, placed };
      }),
    );
  }

  test('deleting the pet fails if an order was placed first; after a deletion, all orders fail', async () => {
    const outcomes = await amongOrders((id) => `mutation { deletePet(id: ${id}) { id } }`, 'UNKNOWN_REFERENCE');
    for (const { code, placed } of outcomes) expect(code).toBe(placed ? 'PET_HAS_ORDERS' : undefined);
    for (const { left, held } of await books()) expect(left + held).toBe(9);
  });

  test('removing the inventory entry of the pet makes no order fail', async () => {
    const outcomes = await amongOrders((id) => `mutation { removeInventory(petId: ${id}) { petId } }`);
    expect(outcomes).toEqual(Array(12).fill({ code: undefined, placed: 6 }));
    expect(await books()).toEqual([]);
  });
});
