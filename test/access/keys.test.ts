import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const FIELDS = 'id name plan scopes perMinute perDay expiresAt revokedAt lastUsedAt createdAt bannedUntil';
const CREATE = `mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { ${FIELDS} } } }`;
const UPDATE = `mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { ${FIELDS} } }`;
const REVOKE = `mutation ($id: ID!) { revokeApiKey(id: $id) { ${FIELDS} } }`;

const update = async ({ id }: TestKey, input: object) => (await gateway.data(UPDATE, { id, input })).updateApiKey;
const revoke = async (id: string) => (await gateway.data(REVOKE, { id })).revokeApiKey;
const statusOf = async ({ headers }: TestKey) => (await gateway.app.inject({ url: '/pets', headers })).statusCode;

async function expectInvalid(query: string, variables: object, paths: string[]): Promise<void> {
  expect(await refusalOf(gateway, query, variables)).toMatchObject({ code: 'BAD_USER_INPUT', paths });
}

/** Inserts a key with the given id directly into the database, without validation. */
function insert(id: string, createdAt = new Date()) {
  const secretHash = new Uint8Array(32);
  return gateway.database.prisma.apiKey.create({
    data: { id, secretHash, name: `key ${id}`, plan: 'FREE', scopes: ['READ'], createdAt },
  });
}

describe('createApiKey', () => {
  test('creates a FREE key that may read and write, and shows its secret only once', async () => {
    const { createApiKey } = await gateway.data(CREATE, { input: { name: '  Acme  ' } });
    const secret = String(createApiKey?.secret);
    expect(secret).toMatch(/^ps_([0-9a-z]{12})_([0-9A-Za-z]{32})$/);
    expect(createApiKey?.apiKey).toEqual({
      id: secret.split('_')[1],
      name: 'Acme',
      plan: 'FREE',
      scopes: ['READ', 'WRITE'],
      perMinute: null,
      perDay: null,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      bannedUntil: null,
    });
  });

  test('stores the given values, without duplicate scopes', async () => {
    const input = { name: 'Agreed', plan: 'ENTERPRISE', perMinute: 1, perDay: 2147483647 };
    const more = { scopes: ['ADMIN', 'READ', 'ADMIN'], expiresAt: '2030-01-01T01:00:00+01:00' };
    const { createApiKey } = await gateway.data(CREATE, { input: { ...input, ...more } });
    const stored = { ...input, scopes: ['ADMIN', 'READ'], expiresAt: '2030-01-01T00:00:00.000Z' };
    expect(createApiKey?.apiKey).toMatchObject(stored);
  });

  const enterprise = { plan: 'ENTERPRISE', perMinute: 5, perDay: 50 };
  test.each<[object, string[]]>([
    [{ name: undefined }, ['name']],
    [{ name: '   ' }, ['name']],
    [{ name: 'é'.repeat(256) }, ['name']],
    [{ name: 'a\u0000b' }, ['name']],
    [{ plan: 'GOLD' }, ['plan']],
    [{ plan: null }, ['plan']],
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['ROOT'] }, ['scopes.0']],
    [{ scopes: null }, ['scopes']],
    [{ perMinute: 5 }, ['perMinute']],
    [{ plan: 'PRO', perMinute: 5, perDay: 5 }, ['perMinute', 'perDay']],
    [{ plan: 'ENTERPRISE' }, ['perMinute', 'perDay']],
    [{ ...enterprise, perDay: undefined }, ['perDay']],
    [{ ...enterprise, perMinute: -1, perDay: 0 }, ['perMinute', 'perDay']],
    [{ ...enterprise, perMinute: 2147483648 }, ['perMinute']],
    [{ ...enterprise, perMinute: 1.5 }, ['perMinute']],
    [{ expiresAt: 'tomorrow' }, ['expiresAt']],
    [{ expiresAt: '2030-02-30T00:00:00Z' }, ['expiresAt']],
    [{ secret: 'mine' }, ['secret']],
    [{ name: '', scopes: [], perDay: 1 }, ['name', 'scopes', 'perDay']],
  ])('rejects %j with an error that names each invalid field', async (input, fields) => {
    await expectInvalid(
      CREATE,
      { input: { name: 'x', ...input } },
      fields.map((field) => `input.${field}`),
    );
  });
});

describe('updateApiKey', () => {
  test('changes only the given fields', async () => {
    const key = await gateway.createKey({ name: 'before', plan: 'PRO', expiresAt: '2040-01-01T00:00:00Z' });
    const before = await update(key, {});
    expect(before).toMatchObject({ name: 'before', plan: 'PRO', expiresAt: '2040-01-01T00:00:00.000Z' });
    expect(await update(key, { name: ' after ' })).toEqual({ ...before, name: 'after' });
    expect(await update(key, { scopes: ['READ'] })).toEqual({ ...before, name: 'after', scopes: ['READ'] });
    expect(await update(key, { expiresAt: null })).toMatchObject({ plan: 'PRO', expiresAt: null });
  });

  test('takes effect on the next request of the key', async () => {
    const key = await gateway.createKey();
    const ask = () => gateway.graphql('{ pets { totalCount } apiKeys { totalCount } }', undefined, key.headers);
    expect(await ask()).toMatchObject({ status: 403, headers: { 'x-ratelimit-limit': '60' } });
    await update(key, { plan: 'BUSINESS', scopes: ['ADMIN'] });
    expect(await ask()).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000' } });
  });

  test('makes an expired key valid again by a later expiresAt', async () => {
    const key = await gateway.createKey({ expiresAt: '2020-01-01T00:00:00Z' });
    expect(await statusOf(key)).toBe(401);
    await update(key, { expiresAt: '2090-01-01T00:00:00Z' });
    expect(await statusOf(key)).toBe(200);
  });

  test('requires both limits for the plan ENTERPRISE, keeps omitted limits, and removes both limits for other plans', async () => {
    const key = await gateway.createKey();
    const invalid = (input: object, ...fields: string[]) =>
      expectInvalid(
        UPDATE,
        { id: key.id, input },
        fields.map((field) => `input.${field}`),
      );
    await invalid({ plan: 'ENTERPRISE' }, 'perMinute', 'perDay');
    const limits = { perMinute: 7, perDay: 70 };
    expect(await update(key, { plan: 'ENTERPRISE', ...limits })).toMatchObject(limits);
    expect(await update(key, { perMinute: 8 })).toMatchObject({ perMinute: 8, perDay: 70 });
    await invalid({ perDay: null }, 'perDay');
    await invalid({ plan: 'PRO', perDay: 1 }, 'perDay');
    expect(await update(key, { plan: 'PRO' })).toMatchObject({ plan: 'PRO', perMinute: null, perDay: null });
    await invalid({ perMinute: 8 }, 'perMinute');
  });

  test.each<[object, string[]]>([
    [{ name: null }, ['input.name']],
    [{ plan: null, scopes: null }, ['input.plan', 'input.scopes']],
    [{ name: ' ' }, ['input.name']],
    [{ scopes: [] }, ['input.scopes']],
  ])('rejects %j', async (input, paths) => {
    await expectInvalid(UPDATE, { id: (await gateway.createKey()).id, input }, paths);
  });

  test('loses no change when several updates run at the same time', async () => {
    const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
    const changes = { name: 'together', perMinute: 2, perDay: 3, scopes: ['READ'] };
    await Promise.all(Object.entries(changes).map(([field, value]) => update(key, { [field]: value })));
    expect(await update(key, {})).toMatchObject(changes);
  });
});

test('a revoked key cannot be restored, and a repeated revokeApiKey returns the time of the first revocation', async () => {
  const key = await gateway.createKey();
  const revoked = await revoke(key.id);
  expect(revoked).toMatchObject({ id: key.id, revokedAt: expect.stringMatching(/Z$/) });
  expect(await revoke(key.id)).toEqual(revoked);
  await update(key, { name: 'back', expiresAt: null });
  expect(await statusOf(key)).toBe(401);
});

describe('a key id', () => {
  test.each(['123456789012', '000000000000', '012345678901', 'abcdefghijkl', '00000000000a'])(
    '%s is accepted as a string literal and as a variable',
    async (id) => {
      await insert(id);
      expect(await revoke(id)).toMatchObject({ id, name: `key ${id}` });
      const quoted = `mutation { updateApiKey(id: "${id}", input: { name: "quoted" }) { id name } }`;
      expect(await gateway.data(quoted)).toEqual({ updateApiKey: { id, name: 'quoted' } });
    },
  );

  test.each(['1', '9223372036854775807', 'ABCDEFGHIJKL', 'abcdefghijk', 'abcdefghijklm', '', 'ps_abcdefghijkl'])(
    '%j is rejected as malformed',
    async (id) => {
      await expectInvalid(UPDATE, { id, input: {} }, ['id']);
      const { paths, message } = await refusalOf(gateway, REVOKE, { id });
      expect([paths, message]).toEqual([['id'], expect.stringContaining('12 lower-case letters or digits')]);
    },
  );

  test('that does not exist is rejected with NOT_FOUND', async () => {
    const id = 'zzzzzzzzzzzz';
    expect((await refusalOf(gateway, REVOKE, { id })).code).toBe('NOT_FOUND');
    expect((await refusalOf(gateway, UPDATE, { id, input: { name: 'x' } })).code).toBe('NOT_FOUND');
  });

  test.each([
    '{ pet(id: $id) { id } }',
    '{ pets(filter: { ids: [$id] }) { totalCount } }',
    '{ pets(filter: { categoryIds: [$id] }) { totalCount } }',
    'mutation { deletePet(id: $id) { id } }',
    'mutation { createPet(input: { name: "x", categoryId: $id }) { id } }',
    'mutation { placeOrder(input: { petId: $id }) { id } }',
  ])('is rejected as the id of a pet or category: %s', async (query) => {
    for (const id of ['abcdefghijkl', '012345678901'])
      expect(await refusalOf(gateway, query.replace('$id', `"${id}"`))).toMatchObject({
        message: expect.stringContaining('must be an integer from 1 to 9223372036854775807'),
        code: 'BAD_USER_INPUT',
        status: 400,
      });
  });
});

interface Page {
  nodes: { id: string; name: string }[];
  edges: { cursor: string; node: { id: string } }[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
}

const LIST = `query ($first: Int, $after: String, $search: String, $isActive: Boolean) {
  apiKeys(first: $first, after: $after, search: $search, isActive: $isActive) {
    nodes { id name } edges { cursor node { id } } totalCount pageInfo { hasNextPage hasPreviousPage endCursor }
  }
}`;
const list = async (variables: object) => (await gateway.data<{ apiKeys: Page }>(LIST, variables)).apiKeys;

describe('apiKeys', () => {
  test('returns each key exactly once, newest first, even if several were created at the same moment', async () => {
    const moment = new Date('2020-01-01T00:00:00.000Z');
    const oldest = Array.from({ length: 5 }, (_, i) => `samemoment0${i}`);
    for (const id of oldest) await insert(id, moment);
    for (let i = 0; i < 5; i++) await gateway.createKey({ name: `page ${i}` });
    const whole = await list({ first: 100 });
    expect(whole.nodes.slice(0, 5).map(({ name }) => name)).toEqual([4, 3, 2, 1, 0].map((i) => `page ${i}`));
    expect(whole.nodes.slice(-5).map(({ id }) => id)).toEqual(oldest.toReversed());
    expect(whole.totalCount).toBe(whole.nodes.length);

    const paged: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = await list({ first: 2, after });
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      expect(page.edges.map(({ node }) => node.id)).toEqual(page.nodes.map(({ id }) => id));
      expect(page.edges.at(-1)?.cursor).toBe(page.pageInfo.endCursor);
      paged.push(...page.nodes.map(({ id }) => id));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after);
    expect(paged).toEqual(whole.nodes.map(({ id }) => id));
  });

  test.each<[object, string]>([
    [{ first: 0 }, 'first'],
    [{ first: -1 }, 'first'],
    [{ first: 101 }, 'first'],
    [{ after: '' }, 'after'],
    [{ after: 'x' }, 'after'],
    [{ after: Buffer.from('1 x').toString('base64url') }, 'after'],
  ])('rejects %j', async (variables, path) => {
    await expectInvalid(LIST, variables, [path]);
  });

  test('rejects a cursor from a different list', async () => {
    await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    const { categories } = await gateway.data('{ categories { pageInfo { endCursor } } }');
    await expectInvalid(LIST, { after: categories?.pageInfo?.endCursor }, ['after']);
  });

  const found = async (variables: object) => {
    const { totalCount, nodes } = await list({ first: 100, ...variables });
    expect(totalCount).toBe(nodes.length);
    return nodes.map(({ name }) => name);
  };

  test('finds keys by the start of the id or any part of the name; case is ignored, and wildcards are not supported', async () => {
    const { id } = await gateway.createKey({ name: 'Wild 100%_card\\ shop' });
    await gateway.createKey({ name: 'Wild 100 cards' });
    for (const search of ['wILD 100%', '%_C', '_card', 'D\\ S', id, id.slice(0, 9)])
      expect(await found({ search })).toEqual(['Wild 100%_card\\ shop']);
    expect(await found({ search: 'wild 100' })).toEqual(['Wild 100 cards', 'Wild 100%_card\\ shop']);
    expect(await found({ search: id.slice(1) })).toEqual([]);
  });

  test('filters keys by whether they are active', async () => {
    const create = (name: string, expiresAt?: string) => gateway.createKey({ name: `ending: ${name}`, expiresAt });
    await revoke((await create('revoked')).id);
    await create('expired', '2020-01-01T00:00:00Z');
    await create('later', '2090-01-01T00:00:00Z');
    await create('never');
    const search = 'ending:';
    expect(await found({ search, isActive: true })).toEqual(['ending: never', 'ending: later']);
    expect(await found({ search, isActive: false })).toEqual(['ending: expired', 'ending: revoked']);
    expect(await found({ search })).toHaveLength(4);
  });
});

test("an admin can read a key's remaining quota", async () => {
  const key = await gateway.createKey({ plan: 'PRO' });
  await statusOf(key);
  const query = 'query ($id: ID!) { apiKey(id: $id) { rateLimit { plan windows { name limit remaining } } } }';
  const windows = [
    { name: 'minute', limit: 300, remaining: 299 },
    { name: 'day', limit: 10_000, remaining: 9_999 },
  ];
  expect(await gateway.data(query, { id: key.id })).toEqual({ apiKey: { rateLimit: { plan: 'PRO', windows } } });
});
