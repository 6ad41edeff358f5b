import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

const SCOPES = ['READ', 'WRITE', 'ADMIN'];

/** What a caller must have; `open`: anybody may. */
type Needs = 'READ' | 'WRITE' | 'ADMIN' | 'open';

const ROOT_FIELDS: Readonly<Record<string, Needs>> = {
  'query apiKey': 'ADMIN',
  'query apiKeys': 'ADMIN',
  'query category': 'READ',
  'query categories': 'READ',
  'query inventoryItem': 'READ',
  'query inventory': 'READ',
  'query node': 'READ',
  'query nodes': 'READ',
  'query order': 'READ',
  'query orders': 'READ',
  'query pet': 'READ',
  'query pets': 'READ',
  'query rateLimit': 'open',
  'query topCallers': 'ADMIN',
  'query viewer': 'open',
  'mutation createApiKey': 'ADMIN',
  'mutation updateApiKey': 'ADMIN',
  'mutation revokeApiKey': 'ADMIN',
  'mutation rotateApiKey': 'ADMIN',
  'mutation liftBan': 'ADMIN',
  'mutation createCategory': 'WRITE',
  'mutation updateCategory': 'WRITE',
  'mutation deleteCategory': 'WRITE',
  'mutation setInventory': 'WRITE',
  'mutation removeInventory': 'WRITE',
  'mutation placeOrder': 'WRITE',
  'mutation updateOrder': 'WRITE',
  'mutation cancelOrder': 'WRITE',
  'mutation createPet': 'WRITE',
  'mutation updatePet': 'WRITE',
  'mutation deletePet': 'WRITE',
  'subscription petChanged': 'READ',
  'subscription orderChanged': 'READ',
  'subscription inventoryChanged': 'READ',
};

const REST_OPERATIONS: Readonly<Record<string, Needs>> = {
  'GET /pets': 'READ',
  'POST /pets': 'WRITE',
  'GET /pets/{petId}': 'READ',
  'PUT /pets/{petId}': 'WRITE',
  'PATCH /pets/{petId}': 'WRITE',
  'DELETE /pets/{petId}': 'WRITE',
  'GET /categories': 'READ',
  'POST /categories': 'WRITE',
  'GET /categories/{categoryId}': 'READ',
  'PUT /categories/{categoryId}': 'WRITE',
  'PATCH /categories/{categoryId}': 'WRITE',
  'DELETE /categories/{categoryId}': 'WRITE',
  'GET /store/orders': 'READ',
  'POST /store/orders': 'WRITE',
  'GET /store/orders/{orderId}': 'READ',
  'PATCH /store/orders/{orderId}': 'WRITE',
  'DELETE /store/orders/{orderId}': 'WRITE',
  'GET /store/inventory': 'READ',
  'GET /store/inventory/{petId}': 'READ',
  'PUT /store/inventory/{petId}': 'WRITE',
  'DELETE /store/inventory/{petId}': 'WRITE',
  'GET /rate_limit': 'open',
  'GET /usage': 'open',
};

/** What REST writes, by the start of the path. */
const BODIES: readonly (readonly [string, object])[] = [
  ['/pets', { name: 'Mia', categoryId: 1 }],
  ['/categories', { name: 'Mia' }],
  ['/store', { quantity: 1 }],
];

/** An operation of either interface: its name, and how to request it. */
interface Operation {
  name: string;
  needs: Needs;
  /** @param ids what it applies to. */
  request(ids: Ids): { method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; url: string; payload?: object };
}

interface Caller {
  headers: Record<string, string>;
  /** All scopes of its key; absent without a valid key. */
  scopes?: readonly string[];
}

interface Ids {
  /** Of a pet, a category and an order. */
  row: string;
  key: string;
}

/** The root fields of the schema: `query pets`. */
const FIELDS = new Map(
  [SCHEMA.getQueryType(), SCHEMA.getMutationType(), SCHEMA.getSubscriptionType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map(
      (field) => [`${String(type).toLowerCase()} ${field.name}`, field] as const,
    ),
  ),
);

const GRAPHQL: Operation[] = [...FIELDS].map(([name, field]) => ({
  name,
  needs: ROOT_FIELDS[name] ?? 'open',
  request: (ids) => ({
    method: 'POST',
    url: '/graphql',
    payload: { query: `${name.split(' ')[0]} { ${textOf(field, ids)} }` },
  }),
}));

const REST: Operation[] = Object.entries(REST_OPERATIONS).map(([name, needs]) => {
  const [method, path] = name.split(' ') as ['GET', string];
  const payload = BODIES.find(([start]) => path.startsWith(start))?.[1];
  return {
    name,
    needs,
    request: ({ row }) => ({
      method,
      url: path.replace(/\{\w+\}/, row),
      ...(/^P/.test(method) && { payload }),
    }),
  };
});

const EVERYTHING = [...GRAPHQL, ...REST];

let gateway: Gateway;
let instances: Map<string, Gateway>;
let callers: Map<string, Caller>;
let victim: string;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' });
  await fillShop(gateway.database);
  instances = new Map([['write', gateway]]);
  for (const access of ['none', 'read']) instances.set(access, await gateway.another({ ANONYMOUS_ACCESS: access }));
  const keyOf = (...scopes: string[]) =>
    gateway.createKey({ scopes, plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000 });
  const [read, write, admin, revoked, expired, wrong] = await Promise.all(
    [['READ'], ['WRITE'], ['ADMIN'], ['ADMIN'], ['ADMIN'], ['ADMIN']].map((scopes) => keyOf(...scopes)),
  );
  if (!read || !write || !admin || !revoked || !expired || !wrong) throw new Error('no keys');
  victim = (await keyOf('READ')).id;
  await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
  await gateway.database.query(statement("update api_keys set expires_at = now() - interval '1 s' where id = $1"), [
    expired.id,
  ]);
  const key = (text: string) => ({ headers: { 'x-api-key': text } });
  callers = new Map<string, Caller>([
    ['nobody', { headers: {} }],
    ['READ', { ...read, scopes: ['READ'] }],
    ['WRITE', { ...write, scopes: ['READ', 'WRITE'] }],
    ['ADMIN', { ...admin, scopes: SCOPES }],
    ['a bearer of ADMIN', { headers: { authorization: `Bearer ${admin.whole}` }, scopes: SCOPES }],
    ['a revoked key', revoked],
    ['an expired key', expired],
    ['a wrong secret', key(wrong.whole.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')))],
    ['an unknown key', key(`ps_${'0'.repeat(12)}_${'a'.repeat(32)}`)],
    ['a malformed key', key(admin.whole.slice(0, -1))],
  ]);
});
afterAll(async () => {
  for (const instance of instances.values()) if (instance !== gateway) await instance.close();
  await gateway.close();
});

test('the tables here name every root field, and nothing else', () => {
  expect(Object.keys(ROOT_FIELDS).sort()).toEqual([...FIELDS.keys()].sort());
});

test('the tables here name every REST operation, and nothing else', async () => {
  const { paths } = (await gateway.server.inject('/openapi.json')).json<{ paths: Record<string, object> }>();
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(REST_OPERATIONS).sort()).toEqual(described.sort());
});

const CALLERS = ['nobody', 'READ', 'WRITE', 'ADMIN', 'a bearer of ADMIN'];
const REFUSED = ['a revoked key', 'an expired key', 'a wrong secret', 'an unknown key', 'a malformed key'];
const ANONYMOUS: Record<string, string[]> = { none: [], read: ['READ'], write: ['READ', 'WRITE'] };

describe.each(Object.entries(ANONYMOUS))('with ANONYMOUS_ACCESS=%s', (access, ofAnybody) => {
  const isForAnybody = ({ needs }: Operation) => needs === 'open' || ofAnybody.includes(needs);
  /** Refused operations name existing rows, which they would change. */
  async function areRefused(operations: Operation[], caller: Caller | undefined, how: string) {
    const before = await everything();
    const answers = await Promise.all(
      operations.map((operation) => ask(access, operation, caller, { row: '1', key: victim })),
    );
    expect(answers).toEqual(operations.map(({ name }) => `${name}: ${how}`));
    expect(await everything()).toEqual(before);
  }

  test.each(CALLERS)('%s may do what its scopes allow, and nothing else', async (name) => {
    const caller = callers.get(name);
    const scopes = caller?.scopes ?? ofAnybody;
    const may = ({ needs }: Operation) => needs === 'open' || scopes.includes(needs);
    await areRefused(
      EVERYTHING.filter((operation) => !may(operation)),
      caller,
      caller?.scopes ? '403 FORBIDDEN' : '401 UNAUTHENTICATED',
    );

    // With a key only what needs one here: `none` leaves all of it.
    const allowed = EVERYTHING.filter(
      (operation) => may(operation) && !(caller?.scopes && ofAnybody.includes(operation.needs)),
    );
    const answers = await Promise.all(
      allowed.map((operation) => ask(access, operation, caller, { row: '999', key: 'z'.repeat(12) })),
    );
    const isRefusal = / (UNAUTHENTICATED|FORBIDDEN|RATE_LIMITED|KEY_BANNED|[A-Z_]+_ERROR|SERVICE_\w+)$/;
    expect(answers.filter((answer) => isRefusal.test(answer))).toEqual([]);
  });

  // `write` shows most: elsewhere only what anybody may do is asked, as a caller without a key is refused the rest too.
  test.each(REFUSED)('%s may do nothing at all', async (name) => {
    const operations = access === 'write' ? EVERYTHING : EVERYTHING.filter(isForAnybody);
    expect(operations).not.toEqual([]);
    await areRefused(operations, callers.get(name), '401 UNAUTHENTICATED');
  });
});

let asked = 0;

/** @returns for example `mutation createPet: 403 FORBIDDEN`. */
async function ask(access: string, { name, request }: Operation, caller: Caller | undefined, ids: Ids) {
  const { url, ...rest } = request(ids);
  const response = await (instances.get(access) as Gateway).server.inject({
    url,
    ...rest,
    headers: { ...caller?.headers },
    // Each from another address, so that none reaches a limit.
    remoteAddress: `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked++ & 255}`,
  });
  const body = response.payload && response.json();
  const { code = 'OK' } = body.errors?.[0].extensions ?? (body || {});
  return `${name}: ${response.statusCode} ${code}`;
}

/** All rows of all tables, except when keys were last used. */
async function everything(): Promise<unknown[]> {
  const tables = ['categories', 'pets', 'orders', 'inventory', 'idempotency_keys', 'api_keys'];
  const sql = tables.map(
    (name) => `(select jsonb_agg(to_jsonb(t) - 'last_used_at' order by to_jsonb(t)::text) as rows from ${name} t)`,
  );
  return gateway.database.query(statement(sql.join(' union all ')), []);
}

/** A root field with its required arguments. */
function textOf(field: GraphQLField<unknown, unknown>, ids: Ids): string {
  const type = getNamedType(field.type);
  const nodeId = Buffer.from(`Pet:${ids.row}`).toString('base64url');
  const id = type.name.endsWith('ApiKey') ? ids.key : type.name === 'Node' ? nodeId : ids.row;
  const args = field.args.filter(isRequiredArgument).map(({ name, type }) => `${name}: ${valueFor(type, id)}`);
  return `${field.name}${args.length ? `(${args.join(', ')})` : ''}${isLeafType(type) ? '' : ' { __typename }'}`;
}

function valueFor(type: GraphQLInputType, id: string): string {
  const named = getNamedType(type);
  if (isListType(type)) return '[]';
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map(({ name, type }) => `${name}: ${valueFor(type, id)}`).join(', ')} }`;
  }
  if (named.name === 'ID') return `"${id}"`;
  return named.name === 'Int' ? '1' : '"x"';
}
