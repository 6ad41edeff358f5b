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
  type OperationDefinitionNode,
  parse,
  valueFromASTUntyped,
} from 'graphql';
import { statement } from '../../src/database/statement';
import { routeOf } from '../../src/rest/operation';
import { OPERATIONS } from '../../src/rest/operations';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

/** Root fields open to anybody. A root field that is neither here nor marked with a scope is a mistake. */
const OPEN = ['rateLimit', 'viewer'];

const SCOPES = ['READ', 'WRITE', 'ADMIN'];

/** An operation of either interface: its name, the scope it needs, and how to request it. */
interface Operation {
  name: string;
  /** `undefined` for none. */
  scope: string | undefined;
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

const ROOT_FIELDS = [SCHEMA.getQueryType(), SCHEMA.getMutationType(), SCHEMA.getSubscriptionType()].flatMap(
  (type) =>
    Object.values(type?.getFields() ?? {}).map((field) => ({ kind: String(type).toLowerCase(), field })),
);

const GRAPHQL: Operation[] = ROOT_FIELDS.map(({ kind, field }) => ({
  name: `${kind} ${field.name}`,
  scope: scopeOf(field),
  request: (ids) => ({
    method: 'POST',
    url: '/graphql',
    payload: { query: `${kind} { ${textOf(field, ids)} }` },
  }),
}));

const REST: Operation[] = OPERATIONS.map((operation) => {
  const { method, path } = routeOf(operation);
  const node = parse(operation.document).definitions[0] as OperationDefinitionNode;
  const [root] = node.selectionSet.selections;
  const field = ROOT_FIELDS.find(
    ({ field }) => root?.kind === 'Field' && field.name === root.name.value,
  )?.field;
  if (!field) throw new Error(`${operation.id} has no root field`);
  const inBody = (node.variableDefinitions ?? [])
    .filter(({ type, variable }) => type.kind === 'NonNullType' && !path.includes(`{${variable.name.value}}`))
    .map(({ variable }) => [variable.name.value, variable.name.value === 'name' ? 'Mia' : 1]);
  return {
    name: operation.on,
    scope: scopeOf(field),
    request: ({ row }) => ({
      method,
      url: path.replace(/\{\w+\}/, row),
      ...(operation.body && { payload: Object.fromEntries(inBody) }),
    }),
  };
});

const EVERYTHING = [...GRAPHQL, ...REST];

let gateway: Gateway;
let instances: Map<string, Gateway>;
let callers: Map<string, Caller>;
let victim: string;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  instances = new Map();
  for (const access of ['none', 'read', 'write'])
    instances.set(access, await gateway.another({ ANONYMOUS_ACCESS: access }));
  const keyOf = (...scopes: string[]) =>
    gateway.createKey({ scopes, plan: 'ENTERPRISE', perMinute: 1_000_000, perDay: 1_000_000 });
  const [read, write, admin, revoked, expired, wrong] = await Promise.all(
    [['READ'], ['WRITE'], ['ADMIN'], ['ADMIN'], ['ADMIN'], ['ADMIN']].map((scopes) => keyOf(...scopes)),
  );
  if (!read || !write || !admin || !revoked || !expired || !wrong) throw new Error('no keys');
  victim = (await keyOf('READ')).id;
  await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
  await gateway.database.query(
    statement("update api_keys set expires_at = now() - interval '1 s' where id = $1"),
    [expired.id],
  );
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
  for (const instance of instances.values()) await instance.server.close();
  await gateway.close();
});

test('every root field declares its scope, or is listed as open', () => {
  expect(ROOT_FIELDS.filter(({ field }) => !scopeOf(field)).map(({ field }) => field.name)).toEqual(OPEN);
  expect(GRAPHQL.length).toBeGreaterThan(25);
  expect(REST.length).toBeGreaterThan(20);
});

const CALLERS = ['nobody', 'READ', 'WRITE', 'ADMIN', 'a bearer of ADMIN'];
const REFUSED = ['a revoked key', 'an expired key', 'a wrong secret', 'an unknown key', 'a malformed key'];
const ANONYMOUS: Record<string, string[]> = { none: [], read: ['READ'], write: ['READ', 'WRITE'] };

describe.each(Object.keys(ANONYMOUS))('with ANONYMOUS_ACCESS=%s', (access) => {
  test.each([...CALLERS, ...REFUSED])('%s may do what its scopes allow, and nothing else', async (name) => {
    const caller = callers.get(name);
    const isRefused = REFUSED.includes(name);
    const scopes = isRefused ? undefined : (caller?.scopes ?? ANONYMOUS[access]);
    const may = ({ scope }: Operation) => scopes !== undefined && (!scope || scopes.includes(scope));
    const refusal = caller?.scopes ? '403 FORBIDDEN' : '401 UNAUTHENTICATED';
    const before = await everything();

    // Refused operations name existing rows, which they would change.
    const refused = EVERYTHING.filter((operation) => !may(operation));
    const answers: string[] = [];
    for (const operation of refused)
      answers.push(await ask(access, operation, caller, { row: '1', key: victim }));
    expect(answers).toEqual(refused.map((operation) => `${operation.name}: ${refusal}`));
    expect(await everything()).toEqual(before);

    const allowed = EVERYTHING.filter(may);
    for (const operation of allowed) {
      const answer = await ask(access, operation, caller, { row: '999', key: 'z'.repeat(12) });
      expect(answer).not.toMatch(
        / (UNAUTHENTICATED|FORBIDDEN|RATE_LIMITED|KEY_BANNED|[A-Z_]+_ERROR|SERVICE_\w+)$/,
      );
    }
    expect(allowed.length + refused.length).toBe(EVERYTHING.length);
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
    (name) =>
      `(select jsonb_agg(to_jsonb(t) - 'last_used_at' order by to_jsonb(t)::text) as rows from ${name} t)`,
  );
  return gateway.database.query(statement(sql.join(' union all ')), []);
}

function scopeOf(field: GraphQLField<unknown, unknown>): string | undefined {
  const mark = field.astNode?.directives?.find(({ name }) => name.value === 'requiresScope');
  const scope = mark?.arguments?.find(({ name }) => name.value === 'scope');
  return scope && String(valueFromASTUntyped(scope.value));
}

/** A root field with its required arguments. */
function textOf(field: GraphQLField<unknown, unknown>, ids: Ids): string {
  const type = getNamedType(field.type);
  const id = type.name === 'ApiKey' ? ids.key : ids.row;
  const args = field.args
    .filter(isRequiredArgument)
    .map(({ name, type }) => `${name}: ${valueFor(type, id)}`);
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
