import { statement } from '../../src/database/statement';
import { IdentityProvider } from '../access/identity-provider';
import { type Gateway, type Json, startGateway } from '../helper/gateway';
import { ask, type Headers } from '../http/client';

let provider: IdentityProvider;
let gateway: Gateway;
const callers = new Map<string, Headers>();
let owner: string;

const send = (who: string, on: string, options: object = {}) =>
  ask(gateway, on, { ...options, headers: { 'x-api-key': undefined, ...callers.get(who) } });

beforeAll(async () => {
  provider = await IdentityProvider.start();
  gateway = await startGateway({
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: 'shop',
    JWT_SCOPE_CLAIM: 'role',
    JWT_PLAN: 'business',
    ANONYMOUS_ACCESS: 'write',
  });
  for (const [name, claims] of Object.entries({ ann: {}, ben: {}, staff: { role: 'write' } }))
    callers.set(name, { authorization: `Bearer ${await provider.sign({ sub: name, ...claims })}` });
  callers.set('anonymous', {});
  for (const [name, scopes] of Object.entries({ reading: ['READ'], writing: ['WRITE'], admin: ['ADMIN'] }))
    callers.set(`${name} key`, (await gateway.createKey({ scopes, plan: 'BUSINESS' })).headers);
  await gateway.database.serviceSession().query(statement('delete from events'), []);
  const category = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
  const categoryId = (await send('writing key', category)).json.data?.createCategory?.id;
  await send('writing key', `mutation { createPet(input: { name: "Rex", categoryId: ${categoryId} }) { id } }`);
  for (const who of ['ann', 'ben', 'writing key']) {
    const { json } = await send(who, 'mutation { placeOrder(input: {}) { id owner } }');
    if (who === 'ann') owner = String(json.data?.placeOrder?.owner);
  }
  await gateway.createKey();
});
afterAll(async () => {
  await gateway.close();
  await provider.stop();
});

const SHOP = ['CATEGORY 1', 'PET 1'];
const ALL = [...SHOP, 'ORDER 1', 'ORDER 2', 'ORDER 3'];
const SEEN: readonly (readonly [who: string, seen: readonly string[]])[] = [
  ['ann', [...SHOP, 'ORDER 1']],
  ['ben', [...SHOP, 'ORDER 2']],
  ['staff', ALL],
  ['anonymous', [...SHOP, 'ORDER 3']],
  ['reading key', [...SHOP, 'ORDER 3']],
  ['writing key', ALL],
  ['admin key', [...ALL, 'API_KEY']],
];

/** What events are about. The ids of keys differ between runs. */
const said = (nodes: readonly Json[]) =>
  nodes.map(({ topic, objectId }) => `${String(topic).toUpperCase()} ${objectId}`.replace(/^API_KEY .*/, 'API_KEY'));

describe.each(SEEN)('%s', (who, seen) => {
  const nodesOf = async (args = '') => {
    const on = `{ events${args} { nodes { topic objectId actor node { __typename } } pageInfo { endCursor } } }`;
    const { json, error } = await send(who, on);
    expect(error).toBeUndefined();
    return json.data?.events as Json & { nodes: Json[] };
  };

  test('sees the events of the objects that it sees, in pages of any size', async () => {
    const { nodes, pageInfo } = await nodesOf();
    expect(said(nodes)).toEqual(seen);
    const { json } = await send(who, 'GET /events');
    expect(said(json as unknown as Json[])).toEqual(seen);
    expect(said((await nodesOf('(topics: [ORDER])')).nodes)).toEqual(seen.filter((each) => each.startsWith('ORDER')));
    const paged: string[] = [];
    let after = '';
    for (let i = 0; i < 8; i++) {
      const next = await nodesOf(`(first: 1${after})`);
      paged.push(...said(next.nodes));
      after = `, after: "${next.pageInfo?.endCursor}"`;
    }
    expect(paged).toEqual(seen);
    expect(after).toBe(`, after: "${pageInfo?.endCursor}"`);
    for (const { topic, node } of nodes) expect(node === null).toBe(String(topic) === 'API_KEY');
  });

  test(`${who === 'admin key' ? 'is' : 'is not'} told who has made the changes`, async () => {
    const { nodes } = await nodesOf();
    const actors = nodes.map(({ actor }) => actor);
    if (who === 'admin key') expect(actors).toContain(owner);
    else expect(new Set(actors)).toEqual(new Set([null]));
    const { text } = await send(who, 'GET /events');
    expect(text.includes('"actor"')).toBe(who === 'admin key');
  });

  test(`${who === 'admin key' ? 'may' : 'may not'} ask for key administration`, async () => {
    const expected = who === 'admin key' ? undefined : who === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN';
    const graphql = await send(who, '{ events(topics: [PET, API_KEY]) { nodes { topic } } viewer { callerId } }');
    expect([graphql.status, graphql.code]).toEqual([200, expected]);
    expect(graphql.json.data?.viewer).toMatchObject({ callerId: expect.any(String) });
    const rest = await send(who, 'GET /events?topic=api_key');
    expect([rest.status, rest.code]).toEqual([expected ? (who === 'anonymous' ? 401 : 403) : 200, expected]);
  });
});
