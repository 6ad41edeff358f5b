import { type Gateway, startGateway, type TestKey } from '../helper/gateway';

const START = 1_800_000_000_000;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, () => START);
});
afterAll(() => gateway.close());

const FIELDS = 'id name plan scopes perMinute perDay expiresAt revokedAt lastUsedAt createdAt bannedUntil';
const CREATE = `mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { ${FIELDS} } } }`;
const UPDATE = `mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { ${FIELDS} } }`;
const REVOKE = `mutation ($id: ID!) { revokeApiKey(id: $id) { ${FIELDS} } }`;
const LIST = `query ($first: Int, $after: String) {
  apiKeys(first: $first, after: $after) {
    nodes { ${FIELDS} } edges { cursor node { id } } totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

/** The error code of a refused operation, and the paths of its details. */
async function refusal(query: string, variables: object): Promise<[string, string[]]> {
  const { errors, data } = await gateway.graphql(query, variables);
  expect(Object.values(data ?? {}).filter(Boolean)).toEqual([]);
  const { code, details = [] } = (errors[0]?.extensions ?? {}) as {
    code: string;
    details?: { path: string }[];
  };
  return [code, details.map(({ path }) => path)];
}

describe('createApiKey', () => {
  test('creates a FREE key that may read and write, and shows it in full, once', async () => {
    const { createApiKey } = await gateway.data(CREATE, { input: { name: '  Acme  ' } });
    const { secret, apiKey } = createApiKey as unknown as { secret: string; apiKey: { id: string } };
    expect(secret).toMatch(/^ps_([0-9a-z]{12})_([0-9A-Za-z]{32})$/);
    expect(apiKey).toEqual({
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

  test('stores the given values, each scope once', async () => {
    const input = {
      name: 'Agreed',
      plan: 'ENTERPRISE',
      scopes: ['ADMIN', 'READ', 'ADMIN'],
      perMinute: 1,
      perDay: 2147483647,
      expiresAt: '2030-01-01T01:00:00+01:00',
    };
    const { createApiKey } = await gateway.data(CREATE, { input });
    expect(createApiKey?.apiKey).toMatchObject({
      ...input,
      scopes: ['ADMIN', 'READ'],
      expiresAt: '2030-01-01T00:00:00.000Z',
    });
  });

  const enterprise = { name: 'x', plan: 'ENTERPRISE', perMinute: 5, perDay: 50 };
  test.each<[object, string[]]>([
    [{}, ['input.name']],
    [{ name: '   ' }, ['input.name']],
    [{ name: 'é'.repeat(256) }, ['input.name']],
    [{ name: 'a\u0000b' }, ['input.name']],
    [{ name: 'x', plan: 'GOLD' }, ['input.plan']],
    [{ name: 'x', plan: null }, ['input.plan']],
    [{ name: 'x', scopes: [] }, ['input.scopes']],
    [{ name: 'x', scopes: ['ROOT'] }, ['input.scopes.0']],
    [{ name: 'x', scopes: null }, ['input.scopes']],
    [{ name: 'x', perMinute: 5 }, ['input.perMinute']],
    [{ name: 'x', plan: 'PRO', perMinute: 5, perDay: 5 }, ['input.perMinute', 'input.perDay']],
    [{ name: 'x', plan: 'ENTERPRISE' }, ['input.perMinute', 'input.perDay']],
    [{ ...enterprise, perDay: undefined }, ['input.perDay']],
    [{ ...enterprise, perMinute: 0 }, ['input.perMinute']],
    [{ ...enterprise, perMinute: -1, perDay: 0 }, ['input.perMinute', 'input.perDay']],
    [{ ...enterprise, perMinute: 2147483648 }, ['input.perMinute']],
    [{ ...enterprise, perMinute: 1.5 }, ['input.perMinute']],
    [{ name: 'x', expiresAt: 'tomorrow' }, ['input.expiresAt']],
    [{ name: 'x', expiresAt: '2030-02-30T00:00:00Z' }, ['input.expiresAt']],
    [{ name: 'x', secret: 'mine' }, ['input.secret']],
    [{ name: '', scopes: [], perDay: 1 }, ['input.name', 'input.scopes', 'input.perDay']],
  ])('refuses %j, naming each invalid field', async (input, paths) => {
    expect(await refusal(CREATE, { input })).toEqual(['BAD_USER_INPUT', paths]);
  });
});

describe('updateApiKey', () => {
  const update = async ({ id }: TestKey, input: object) => (await gateway.data(UPDATE, { id, input })).updateApiKey;

  test('changes the given fields only', async () => {
    const key = await gateway.createKey({ name: 'before', plan: 'PRO', expiresAt: '2040-01-01T00:00:00Z' });
    const kept = {
      id: key.id,
      plan: 'PRO',
      scopes: ['READ', 'WRITE'],
      expiresAt: '2040-01-01T00:00:00.000Z',
    };
    expect(await update(key, {})).toMatchObject({ ...kept, name: 'before' });
    expect(await update(key, { name: ' after ' })).toMatchObject({ ...kept, name: 'after' });
    expect(await update(key, { scopes: ['READ'] })).toMatchObject({
      ...kept,
      name: 'after',
      scopes: ['READ'],
    });
    expect(await update(key, { expiresAt: null })).toMatchObject({ plan: 'PRO', expiresAt: null });
  });

  test('changes plan and scopes from the next request on', async () => {
    const key = await gateway.createKey();
    const ask = () => gateway.graphql('{ pets { totalCount } apiKeys { totalCount } }', undefined, key.headers);
    expect(await ask()).toMatchObject({ status: 403, headers: { 'x-ratelimit-limit': '60' } });
    await update(key, { plan: 'BUSINESS', scopes: ['ADMIN'] });
    expect(await ask()).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000' } });
  });

  test('ENTERPRISE requires both limits, keeps them, and drops them with the plan', async () => {
    const key = await gateway.createKey();
    const { id } = key;
    expect(await refusal(UPDATE, { id, input: { plan: 'ENTERPRISE' } })).toEqual([
      'BAD_USER_INPUT',
      ['input.perMinute', 'input.perDay'],
    ]);
    expect(await update(key, { plan: 'ENTERPRISE', perMinute: 7, perDay: 70 })).toMatchObject({
      perMinute: 7,
      perDay: 70,
    });
    expect(await update(key, { perMinute: 8 })).toMatchObject({ perMinute: 8, perDay: 70 });
    expect(await refusal(UPDATE, { id, input: { perDay: null } })).toEqual(['BAD_USER_INPUT', ['input.perDay']]);
    expect(await refusal(UPDATE, { id, input: { plan: 'PRO', perDay: 1 } })).toEqual([
      'BAD_USER_INPUT',
      ['input.perDay'],
    ]);
    expect(await update(key, { plan: 'PRO' })).toMatchObject({ plan: 'PRO', perMinute: null, perDay: null });
    expect(await refusal(UPDATE, { id, input: { perMinute: 8 } })).toEqual(['BAD_USER_INPUT', ['input.perMinute']]);
  });

  test.each<[object, string[]]>([
    [{ name: null }, ['input.name']],
    [{ plan: null, scopes: null }, ['input.plan', 'input.scopes']],
    [{ name: ' ' }, ['input.name']],
    [{ scopes: [] }, ['input.scopes']],
  ])('refuses %j', async (input, paths) => {
    const { id } = await gateway.createKey();
    expect(await refusal(UPDATE, { id, input })).toEqual(['BAD_USER_INPUT', paths]);
  });

  test('concurrent changes are all kept', async () => {
    const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
    await Promise.all([
      update(key, { name: 'together' }),
      update(key, { perMinute: 2 }),
      update(key, { perDay: 3 }),
      update(key, { scopes: ['READ'] }),
    ]);
    expect(await update(key, {})).toMatchObject({
      name: 'together',
      perMinute: 2,
      perDay: 3,
      scopes: ['READ'],
    });
  });
});

describe('revokeApiKey', () => {
  test('returns the time of revocation, unchanged when repeated', async () => {
    const { id } = await gateway.createKey();
    const { revokeApiKey: first } = await gateway.data(REVOKE, { id });
    expect(first).toMatchObject({ id, revokedAt: expect.stringMatching(/Z$/) });
    const { revokeApiKey: second } = await gateway.data(REVOKE, { id });
    expect(second).toEqual(first);
  });

  test('is final: no update restores the key', async () => {
    const key = await gateway.createKey();
    await gateway.data(REVOKE, { id: key.id });
    await gateway.data(UPDATE, { id: key.id, input: { name: 'back', expiresAt: null } });
    expect((await gateway.app.inject({ url: '/pets', headers: key.headers })).statusCode).toBe(401);
  });
});

describe('a key id as an argument', () => {
  const ids = ['123456789012', '000000000000', '012345678901', 'abcdefghijkl', '00000000000a'];

  test.each(ids)('%s is accepted, quoted or as a variable', async (id) => {
    await gateway.database.prisma.apiKey.create({
      data: { id, secretHash: new Uint8Array(32), name: `key ${id}`, plan: 'FREE', scopes: ['READ'] },
    });
    expect((await gateway.data(REVOKE, { id })).revokeApiKey).toMatchObject({ id, name: `key ${id}` });
    const quoted = await gateway.data(`mutation { updateApiKey(id: "${id}", input: { name: "quoted" }) { id name } }`);
    expect(quoted).toEqual({ updateApiKey: { id, name: 'quoted' } });
  });

  test.each(['1', '9223372036854775807', 'ABCDEFGHIJKL', 'abcdefghijk', 'abcdefghijklm', '', 'ps_abcdefghijkl'])(
    '%j is malformed',
    async (id) => {
      expect(await refusal(REVOKE, { id })).toEqual(['BAD_USER_INPUT', ['id']]);
      expect(await refusal(UPDATE, { id, input: {} })).toEqual(['BAD_USER_INPUT', ['id']]);
      const { errors } = await gateway.graphql(REVOKE, { id });
      expect(errors[0]?.message).toContain('12 lower-case letters or digits');
    },
  );

  test('is NOT_FOUND if there is no such key', async () => {
    const id = 'zzzzzzzzzzzz';
    expect(await refusal(REVOKE, { id })).toEqual(['NOT_FOUND', []]);
    expect(await refusal(UPDATE, { id, input: { name: 'x' } })).toEqual(['NOT_FOUND', []]);
  });

  test.each([
    ['query ($id: ID!) { pet(id: $id) { id } }', (id: string) => ({ id })],
    ['query ($id: ID!) { pets(filter: { ids: [$id] }) { totalCount } }', (id: string) => ({ id })],
    [
      'query ($id: ID!) { category(id: $id) { pets(filter: { categoryIds: [$id] }) { totalCount } } }',
      (id: string) => ({ id }),
    ],
    ['mutation ($id: ID!) { deletePet(id: $id) { id } }', (id: string) => ({ id })],
    [
      'mutation ($input: NewPet!) { createPet(input: $input) { id } }',
      (id: string) => ({ input: { name: 'x', categoryId: id } }),
    ],
    ['mutation ($input: NewOrder!) { placeOrder(input: $input) { id } }', (id: string) => ({ input: { petId: id } })],
  ])('is refused by fields of the shop: %s', async (query, variables) => {
    for (const id of ['abcdefghijkl', '012345678901']) {
      const { errors } = await gateway.graphql(query, variables(id));
      expect(errors[0]).toMatchObject({
        message: expect.stringContaining('must be an integer from 1 to 9223372036854775807'),
        extensions: { code: 'BAD_USER_INPUT', status: 400 },
      });
    }
  });
});

describe('apiKeys', () => {
  test('pages through all keys, newest first, each once', async () => {
    for (let i = 0; i < 5; i++) await gateway.createKey({ name: `page ${i}` });
    const whole = (await gateway.data(LIST, { first: 100 })).apiKeys as unknown as Page;
    expect(whole.nodes.slice(0, 5).map(({ name }) => name)).toEqual([4, 3, 2, 1, 0].map((i) => `page ${i}`));
    expect(whole.totalCount).toBe(whole.nodes.length);

    const paged: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = (await gateway.data(LIST, { first: 3, after })).apiKeys as unknown as Page;
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      expect(page.edges.map(({ node }) => node.id)).toEqual(page.nodes.map(({ id }) => id));
      expect(page.edges.at(-1)?.cursor).toBe(page.pageInfo.endCursor);
      paged.push(...page.nodes.map(({ id }) => id));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after);
    expect(paged).toEqual(whole.nodes.map(({ id }) => id));
  });

  test('keys created at the same moment are each on one page', async () => {
    const createdAt = new Date('2020-01-01T00:00:00.000Z');
    const ids = Array.from({ length: 5 }, (_, i) => `samemoment0${i}`);
    await gateway.database.prisma.apiKey.createMany({
      data: ids.map((id) => ({
        id,
        secretHash: new Uint8Array(32),
        name: id,
        plan: 'FREE',
        scopes: ['READ'],
        createdAt,
      })),
    });
    const { apiKeys } = await gateway.data(LIST, { first: 100 });
    const { edges } = apiKeys as unknown as Page;
    const before = edges.at(-6)?.cursor;
    const seen: string[] = [];
    for (let after = before; after; ) {
      const page = (await gateway.data(LIST, { first: 2, after })).apiKeys as unknown as Page;
      seen.push(...page.nodes.map(({ id }) => id));
      after = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test.each<[object, string]>([
    [{ first: 0 }, 'first'],
    [{ first: -1 }, 'first'],
    [{ first: 101 }, 'first'],
    [{ after: '' }, 'after'],
    [{ after: 'x' }, 'after'],
    [{ after: Buffer.from('1 x').toString('base64url') }, 'after'],
  ])('refuses %j', async (variables, path) => {
    expect(await refusal(LIST, variables)).toEqual(['BAD_USER_INPUT', [path]]);
  });

  test('refuses a cursor of another list', async () => {
    await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    const { categories } = await gateway.data('{ categories { pageInfo { endCursor } } }');
    const after = categories?.pageInfo?.endCursor;
    expect(await refusal(LIST, { after })).toEqual(['BAD_USER_INPUT', ['after']]);
  });
});

interface Page {
  nodes: { id: string; name: string }[];
  edges: { cursor: string; node: { id: string } }[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
}

describe('keys are found', () => {
  const found = async (args: string) => {
    const { apiKeys } = await gateway.data<{ apiKeys: { totalCount: number; nodes: { name: string }[] } }>(
      `{ apiKeys(first: 100, ${args}) { totalCount nodes { name } } }`,
    );
    expect(apiKeys.totalCount).toBe(apiKeys.nodes.length);
    return apiKeys.nodes.map(({ name }) => name);
  };

  test('by a part of the name in any case, in which nothing is a wildcard, or the beginning of the id', async () => {
    const key = await gateway.createKey({ name: 'Wild 100%_card\\ shop' });
    await gateway.createKey({ name: 'Wild 100 cards' });
    for (const text of ['wILD 100%', '%_C', '_card', 'D\\\\ S', key.id, key.id.slice(0, 9)])
      expect(await found(`search: "${text}"`)).toEqual(['Wild 100%_card\\ shop']);
    expect(await found('search: "wild 100"')).toEqual(['Wild 100 cards', 'Wild 100%_card\\ shop']);
    expect(await found(`search: "${key.id.slice(1)}"`)).toEqual([]);
  });

  test('by whether they are still accepted', async () => {
    const [revoked] = await Promise.all([
      gateway.createKey({ name: 'ending: revoked' }),
      gateway.createKey({ name: 'ending: expired', expiresAt: '2020-01-01T00:00:00Z' }),
      gateway.createKey({ name: 'ending: later', expiresAt: '2090-01-01T00:00:00Z' }),
      gateway.createKey({ name: 'ending: never' }),
    ]);
    await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
    expect((await found('search: "ending:", isActive: true')).sort()).toEqual(['ending: later', 'ending: never']);
    expect((await found('search: "ending:", isActive: false')).sort()).toEqual(['ending: expired', 'ending: revoked']);
    expect(await found('search: "ending:"')).toHaveLength(4);
  });

  test('with what is left of their quota', async () => {
    const key = await gateway.createKey({ name: 'quota', plan: 'PRO' });
    await gateway.app.inject({ url: '/pets', headers: key.headers });
    const { apiKey } = await gateway.data(
      'query ($id: ID!) { apiKey(id: $id) { rateLimit { plan windows { name limit remaining } } } }',
      { id: key.id },
    );
    expect(apiKey?.rateLimit).toEqual({
      plan: 'PRO',
      windows: [
        { name: 'minute', limit: 300, remaining: 299 },
        { name: 'day', limit: 10_000, remaining: 9_999 },
      ],
    });
  });
});
