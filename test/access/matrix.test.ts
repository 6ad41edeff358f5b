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
import { everyRow, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { IdentityProvider } from './identity-provider';

/** The root fields and REST operations, by the scope that a caller needs. Operations in `open` need no scope. */
const OPERATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  open: { query: 'rateLimit viewer', GET: '/rate_limit /usage' },
  READ: {
    query: 'category categories events inventory inventoryItem node nodes order orders pet pets',
    subscription: 'petChanged orderChanged inventoryChanged',
    GET: `/pets /pets/{petId} /categories /categories/{categoryId}
      /store/orders /store/orders/{orderId} /store/inventory /store/inventory/{petId} /events`,
  },
  ORDER: {
    mutation: 'placeOrder updateOrder cancelOrder',
    POST: '/store/orders',
    PATCH: '/store/orders/{orderId}',
    DELETE: '/store/orders/{orderId}',
  },
  WRITE: {
    mutation: `createPet updatePet deletePet createCategory updateCategory deleteCategory
      setInventory adjustInventory removeInventory revokeApiKey rotateApiKey`,
    POST: '/pets /categories /store/inventory/{petId}/adjustments',
    PUT: '/pets/{petId} /categories/{categoryId} /store/inventory/{petId}',
    PATCH: '/pets/{petId} /categories/{categoryId}',
    DELETE: '/pets/{petId} /categories/{categoryId} /store/inventory/{petId}',
  },
  ADMIN: {
    query: 'apiKey apiKeys topCallers',
    mutation: 'createApiKey updateApiKey liftBan',
  },
};

/** The scopes of an anonymous caller, for each value of ANONYMOUS_ACCESS. */
const ANONYMOUS: Readonly<Record<string, string[]>> = { none: [], read: ['READ'], write: ['READ', 'ORDER', 'WRITE'] };

/** The scopes of a caller with a key, for each scope of the key. */
const VALID: Readonly<Record<string, string[]>> = {
  READ: ['READ'],
  WRITE: ['READ', 'ORDER', 'WRITE'],
  ADMIN: ['READ', 'ORDER', 'WRITE', 'ADMIN'],
  'ADMIN, as a bearer': ['READ', 'ORDER', 'WRITE', 'ADMIN'],
};

/** The scopes of an end user, by the role in the token. */
const USERS: Readonly<Record<string, string[]>> = {
  'user none': ['READ', 'ORDER'],
  'user write': ['READ', 'ORDER', 'WRITE'],
  'user admin': ['READ', 'ORDER'],
};

/** The scopes of callers with a valid key or token. */
const IDENTIFIED = { ...VALID, ...USERS };

/** Kinds of invalid ADMIN keys. Each function turns a created key into the key that is sent. */
const INVALID: Readonly<Record<string, (whole: string) => string>> = {
  revoked: (whole) => whole,
  expired: (whole) => whole,
  'with a wrong secret': (whole) => whole.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
  unknown: (whole) => whole.replace(/_.*_/, `_${'0'.repeat(12)}_`),
  malformed: (whole) => whole.slice(0, -1),
};

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Headers = Record<string, string>;

interface Operation {
  /** For example, `mutation createPet` or `POST /pets`. */
  readonly name: string;
  readonly needs: string;
}

const EVERYTHING: readonly Operation[] = Object.entries(OPERATIONS).flatMap(([needs, kinds]) =>
  Object.entries(kinds).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => ({ name: `${kind} ${name}`, needs })),
  ),
);

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

/** The root fields of the schema by name, such as `query pets`. */
const FIELDS = new Map<string, GraphQLField<unknown, unknown>>(
  [SCHEMA.getQueryType(), SCHEMA.getMutationType(), SCHEMA.getSubscriptionType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map(
      (field) => [`${String(type).toLowerCase()} ${field.name}`, field] as const,
    ),
  ),
);

/** The ids in operations: `row` is the id of a pet, category or order, and `key` is the id of an API key. */
interface Ids {
  readonly row: string;
  readonly key: string;
}
const UNKNOWN: Ids = { row: '999', key: 'z'.repeat(12) };

let provider: IdentityProvider;
let gateway: Gateway;
let existing: Ids;
const instances = new Map<string, Gateway>();
const callers = new Map<string, Headers>([['anonymous', {}]]);
beforeAll(async () => {
  provider = await IdentityProvider.start();
  const tokens = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'shop', JWT_SCOPE_CLAIM: 'role', JWT_PLAN: 'business' };
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write', ...tokens });
  await fillShop(gateway.database);
  for (const access of Object.keys(ANONYMOUS))
    instances.set(access, await gateway.another({ ANONYMOUS_ACCESS: access, ...tokens }));
  const create = (scope: string, input: object = {}) =>
    gateway.createKey({ scopes: [scope], plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000, ...input });
  existing = { row: '1', key: (await create('READ')).id };
  for (const name of Object.keys(VALID)) {
    const { whole } = await create(name.split(',')[0] ?? '');
    callers.set(name, name.includes('bearer') ? { authorization: `Bearer ${whole}` } : { 'x-api-key': whole });
  }
  for (const name of Object.keys(USERS)) {
    const token = await provider.sign({ sub: name, role: name.split(' ')[1] });
    callers.set(name, { authorization: `Bearer ${token}` });
  }
  for (const [name, sent] of Object.entries(INVALID)) {
    const { id, whole } = await create('ADMIN', name === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {});
    if (name === 'revoked') await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
    callers.set(name, { 'x-api-key': sent(whole) });
  }
});
afterAll(async () => {
  for (const instance of instances.values()) await instance.close();
  await gateway.close();
  await provider.stop();
});

test('the table of operations has every root field and every REST operation, and nothing else', async () => {
  const { paths } = (await gateway.server.inject('/openapi.json')).json<{ paths: Record<string, object> }>();
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(EVERYTHING.map(({ name }) => name).sort()).toEqual([...FIELDS.keys(), ...described].sort());
});

describe.each(Object.entries(ANONYMOUS))('with ANONYMOUS_ACCESS=%s', (access, open) => {
  const ask = (operations: readonly Operation[], caller: string, ids: Ids) =>
    Promise.all(operations.map((operation) => request(access, operation, callers.get(caller) ?? {}, ids)));
  const isOpen = ({ needs }: Operation) => needs === 'open' || open.includes(needs);

  async function expectRejected(operations: readonly Operation[], caller: string, error: string) {
    const before = await everyRow(gateway.database);
    // The operations use the ids of existing rows, so a write that is not rejected would change a row.
    const answers = await ask(operations, caller, existing);
    expect(answers).toEqual(operations.map(({ name }) => `${name}: ${error}`));
    expect(await everyRow(gateway.database)).toEqual(before);
  }

  test.each(['anonymous', ...Object.keys(IDENTIFIED)])(
    'a caller may use exactly the operations that its scopes allow: %s',
    async (caller) => {
      const scopes = IDENTIFIED[caller] ?? open;
      const may = ({ needs }: Operation) => needs === 'open' || scopes.includes(needs);
      const error = IDENTIFIED[caller] ? '403 FORBIDDEN' : '401 UNAUTHENTICATED';
      await expectRejected(
        EVERYTHING.filter((operation) => !may(operation)),
        caller,
        error,
      );
      // Callers with a key or token skip the operations that are open to anonymous callers, because the test of the anonymous
      // caller includes these operations. With ANONYMOUS_ACCESS=none, only the operations that need no scope are open to
      // anonymous callers.
      const allowed = EVERYTHING.filter((operation) => may(operation) && !(IDENTIFIED[caller] && isOpen(operation)));
      const answers = await ask(allowed, caller, UNKNOWN);
      const isRejection = / (UNAUTHENTICATED|FORBIDDEN|RATE_LIMITED|KEY_BANNED|[A-Z_]+_ERROR|SERVICE_\w+)$/;
      // A key may rotate and revoke only itself without the scope ADMIN (self-service.test.ts), not the key that is asked for here.
      const others = answers.filter((answer) => !/^mutation (rotate|revoke)ApiKey: 200 /.test(answer));
      expect(others.filter((answer) => isRejection.test(answer))).toEqual([]);
    },
  );

  test.each(Object.keys(INVALID))('a caller with an invalid key cannot use any operation: %s', async (caller) => {
    // With `none` and `read`, tests only the operations that are open to anonymous callers. If a caller with an invalid
    // key were treated as anonymous, only these operations would succeed.
    const operations = access === 'write' ? EVERYTHING : EVERYTHING.filter(isOpen);
    await expectRejected(operations, caller, '401 UNAUTHENTICATED');
  });
});

let requests = 0;

/** @returns for example `mutation createPet: 403 FORBIDDEN`. */
async function request(access: string, { name }: Operation, headers: Headers, ids: Ids): Promise<string> {
  const [kind = '', path = ''] = name.split(' ');
  const field = FIELDS.get(name);
  const payload = path.endsWith('/adjustments')
    ? { by: 1 }
    : path.startsWith('/store')
      ? { quantity: 1 }
      : { name: 'Mia', ...(path.startsWith('/pets') && { categoryId: 1 }) };
  const response = await (instances.get(access) as Gateway).server.inject({
    headers,
    // Each request comes from another address, so that no address exceeds its quota.
    remoteAddress: `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests++ & 255}`,
    ...(field
      ? { method: 'POST', url: '/graphql', payload: { query: `${kind} { ${textOf(field, ids)} }` } }
      : { method: kind as Method, url: path.replace(/\{\w+\}/, ids.row), ...(/^P/.test(kind) && { payload }) }),
  });
  const body = response.payload && response.json();
  const { code = 'OK' } = body.errors?.[0].extensions ?? (body || {});
  return `${name}: ${response.statusCode} ${code}`;
}

/** The text of a root field with its required arguments. */
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
