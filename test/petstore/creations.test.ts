import type { Engine } from '../../src/database/engine';
import { statement } from '../../src/database/statement';
import { fillShop, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { until } from '../helper/until';
import { type Answer, ask } from '../http/client';

const onPostgres = TEST_DATABASE_URL ? test : test.skip;

let gateway: Gateway;
let keys: TestKey[];
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  await fillShop(gateway.database);
  await gateway.database.serviceSession().query(statement('delete from events'), []);
  const plan = { plan: 'BUSINESS' } as const;
  keys = await Promise.all([gateway.createKey(plan), gateway.createKey(plan), gateway.createKey(plan)]);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly category: string;
  readonly version: string;
  readonly requestId: string;
  readonly actor: string;
}

/** The pets that were created by requests with an id, with the events of their creation. */
const created = () =>
  gateway.database.serviceSession().query<Row>(
    statement(`select pets.id::text, pets.name, pets.status::text, category_id::text as category,
      hashtextextended(pets::text, 0)::text as version, request_id as "requestId", actor
      from pets join events on object_id = pets.id::text and topic = 'pet' and kind = 'CREATED'
      where request_id like 'create-%' order by pets.id`),
    [],
  );

const NAMES = ['Rex', '"quoted", {braces}', "back\\slash 'n' quote", 'null', '🐕 zoë', 'a,b'];
const CREATE = 'mutation ($input: NewPet!) { createPet(input: $input) { id name status categoryId } }';

/** Creates a pet with a separate request id. */
function create(i: number, form: string, categoryId: number): Promise<Answer> {
  const input = { name: `${NAMES[i % NAMES.length]} ${i}`, status: i % 2 ? 'sold' : 'pending', categoryId };
  const headers = { ...keys[i % keys.length]?.headers, 'x-request-id': `create-${i}` };
  if (form === 'POST /pets') return ask(gateway, form, { body: input, headers });
  return ask(gateway, form, { variables: { input: { ...input, categoryId: String(categoryId) } }, headers });
}

test.each(['POST /pets', CREATE, CREATE.replace('{ id', '{ version createdAt id')])(
  'pets that are created at the same time are what their responses say: %s',
  async (form) => {
    const statements = jest.spyOn((gateway.database as unknown as { engine: Engine }).engine, 'run');
    const unknown = (i: number) => i % 10 === 7;
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, i) => create(i, form, unknown(i) ? 77 : 1 + (i % 2))),
    );
    const rows = new Map((await created()).map((row) => [row.requestId, row]));
    for (const [i, answer] of answers.entries()) {
      const row = rows.get(`create-${i}`);
      if (unknown(i)) {
        expect([answer.error?.code, row]).toEqual(['UNKNOWN_REFERENCE', undefined]);
        continue;
      }
      const pet = form === 'POST /pets' ? answer.json : answer.json.data?.createPet;
      expect(answer.error).toBeUndefined();
      expect(row).toMatchObject({
        id: String(pet?.id),
        name: pet?.name,
        status: pet?.status,
        category: String(pet?.categoryId),
        actor: keys[i % keys.length]?.id,
        ...(pet?.version && { version: pet.version }),
      });
      expect(pet?.name).toBe(`${NAMES[i % NAMES.length]} ${i}`);
    }
    const inserts = statements.mock.calls.map(([, bound]) => bound).filter(({ kind }) => kind === 'write');
    expect(inserts.length).toBeLessThan(45);
  },
);

// On the embedded database, which runs one transaction at a time, the creations would wait for the end of this one.
onPostgres('a category that is locked holds up only the creation of its own pets', async () => {
  const ended: number[] = [];
  let answers: Promise<unknown>[] = [];
  await gateway.database.serviceSession().transaction(async (transaction) => {
    await transaction.query(statement('select from categories where id = 1 for update'), []);
    answers = Array.from({ length: 20 }, async (_, i) => {
      expect((await create(i, 'POST /pets', i % 5 === 0 ? 1 : 2)).status).toBe(201);
      ended.push(i);
    });
    await until(() => ended.length === 16);
    expect(ended.filter((i) => i % 5 === 0)).toEqual([]);
  });
  await Promise.all(answers);
  expect(ended).toHaveLength(20);
});

test('creations with a key for repeated requests are not written together', async () => {
  const headers = (i: number) => ({ ...keys[0]?.headers, 'idempotency-key': `creation-${i}` });
  const body = { name: 'Mia', categoryId: 1 };
  const both = () => Promise.all([1, 2].map((i) => ask(gateway, 'POST /pets', { body, headers: headers(i) })));
  const first = (await both()).map(({ json }) => json);
  expect((await both()).map(({ json }) => json)).toEqual(first);
});
