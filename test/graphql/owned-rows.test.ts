import { statement } from '../../src/database/statement';
import { ADMIN_KEY, type Gateway } from '../helper/gateway';
import { running, socketClient, streamClient } from '../helper/live';
import { until } from '../helper/until';
import { asUsers } from '../helper/users';
import { send } from '../rest/client';
import { startToys } from '../toys/gateway';

// Toy 1 has no owner, toy 2 is Ada's, toy 3 is Bob's. All are in box 1, whose favourite is toy 2.

type Caller = { readonly headers: Record<string, string | undefined>; readonly sees: readonly number[] };

const ALL = [1, 2, 3];
const callers: Record<string, Caller> = {
  'an anonymous caller': { headers: { 'x-api-key': undefined }, sees: [1] },
  'an admin key': { headers: { 'x-api-key': ADMIN_KEY }, sees: ALL },
  'a user': { headers: { 'x-api-key': 'user ada READ' }, sees: [2] },
  'a user with WRITE': { headers: { 'x-api-key': 'user ada WRITE' }, sees: ALL },
};

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startToys({ ANONYMOUS_ACCESS: 'write' });
  asUsers();
  for (const scope of ['READ', 'WRITE']) {
    const { headers } = await gateway.createKey({ scopes: [scope], plan: 'BUSINESS' });
    callers[`a key with ${scope}`] = { headers, sees: scope === 'WRITE' ? ALL : [1] };
  }
  url = await gateway.listen();
});
beforeEach(async () => {
  for (const text of [
    'truncate boxes, toys restart identity',
    "insert into boxes (name, favourite_id) values ('One', 2)",
    "insert into toys (name, box_id, owner) values ('Train', 1, null), ('Ball', 1, 'user:ada'), ('Doll', 1, 'user:bob')",
  ])
    await gateway.database.serviceSession().query(statement(text), []);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await gateway.close();
});

describe.each([
  'an anonymous caller',
  'a key with READ',
  'a key with WRITE',
  'an admin key',
  'a user',
  'a user with WRITE',
])('%s sees the right rows', (name) => {
  const caller = () => callers[name] as Caller;
  const seen = (...ids: number[]) => ids.filter((id) => caller().sees.includes(id));
  const nodes = (...ids: number[]) => seen(...ids).map((id) => ({ id: String(id) }));
  const ask = async (query: string) => {
    const { data, errors } = await gateway.graphql(query, {}, caller().headers, '198.51.100.1');
    return errors.length ? errors.map(({ extensions }) => extensions?.code) : data;
  };

  test('by id, in lists and counts', async () => {
    for (const id of ALL) expect(await ask(`{ toy(id: ${id}) { id } }`)).toEqual({ toy: nodes(id)[0] ?? null });
    expect(await ask('{ toys { totalCount nodes { id } } }')).toEqual({
      toys: { totalCount: seen(...ALL).length, nodes: nodes(...ALL) },
    });
  });

  test('in relations and nested pages, as JSON of the database and by resolvers', async () => {
    const [favourite = null] = nodes(2);
    const toys = { totalCount: seen(...ALL).length, nodes: nodes(...ALL) };
    const box = '{ favourite { id } toys { totalCount nodes { id } } }';
    const [id] = seen(...ALL);
    // A mutation runs its resolvers in graphql-js.
    const created =
      'mutation { updateBox: createBox(input: { name: "Two" }) { favourite { id } toys { nodes { id } } } }';
    expect(await ask(`{ box(id: 1) ${box} boxes { nodes ${box} } toy(id: ${id}) { box ${box} } }`)).toEqual({
      box: { favourite, toys },
      boxes: { nodes: [{ favourite, toys }] },
      toy: { box: { favourite, toys } },
    });
    if (name !== 'a user' && name !== 'a key with READ')
      expect(await ask(created)).toEqual({ updateBox: { favourite: null, toys: { nodes: [] } } });
  });

  test('in REST', async () => {
    const list = await send(gateway, 'GET /toys', undefined, caller().headers);
    expect(list.json).toMatchObject(seen(...ALL).map((id) => ({ id })));
    for (const id of ALL) {
      const { status } = await send(gateway, `GET /toys/${id}`, undefined, caller().headers);
      expect(status).toBe(caller().sees.includes(id) ? 200 : 404);
    }
  });

  test('in changes: another row does not exist', async () => {
    if (name === 'a user' || name === 'a key with READ') return;
    for (const id of ALL)
      expect(await ask(`mutation { updateToy(id: ${id}, input: { name: "New" }) { id } }`)).toEqual(
        caller().sees.includes(id) ? { updateToy: { id: String(id) } } : ['NOT_FOUND'],
      );
  });

  test('in events, over WebSocket and event streams', async () => {
    const key = caller().headers['x-api-key'];
    const clients = [
      socketClient(url, key ? { 'x-api-key': key } : {}),
      streamClient(url, key ? { 'x-api-key': key } : {}),
    ];
    const received = clients.map((client) =>
      client.subscribe('subscription { toyChanged { toy { id box { favourite { id } toys: label } } } }'),
    );
    await until(async () => (await running(gateway)) === 2);
    for (const id of ALL) await gateway.data(`mutation { updateToy(id: ${id}, input: { broken: false }) { id } }`);
    const [favourite = null] = nodes(2);
    for (const each of received) {
      const answers = await each.until(seen(...ALL).length);
      expect(answers.map(({ data }) => data?.toyChanged?.toy)).toEqual(
        nodes(...ALL).map(({ id }) => ({ id, box: { favourite, toys: 'ONE!' } })),
      );
    }
    for (const client of clients) client.close();
    await until(async () => (await running(gateway)) === 0);
  });
});
