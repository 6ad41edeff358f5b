import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient as createSocketClient, type SubscribePayload } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { contractSchema } from '../../src/app/contract';
import { TrustedDocuments } from '../../src/graphql/trusted-documents';
import { emptyDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { Received, running } from '../helper/live';
import { until } from '../helper/until';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A manifest in the format of `@apollo/generate-persisted-query-manifest`. */
function manifest(...operations: [type: string, name: string, body: string, id?: string][]): object {
  return {
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: operations.map(([type, name, body, id = sha256(body)]) => ({ id, name, type, body })),
  };
}

const PET =
  'query Pet($id: ID!) {\n  pet(id: $id) {\n    ...Named\n    __typename\n  }\n}\n\nfragment Named on Pet {\n  name\n}';
const RENAME =
  'mutation Rename($id: ID!, $name: String!) {\n  updatePet(id: $id, input: {name: $name}) {\n    name\n  }\n}';
const CHANGES = 'subscription Changes {\n  petChanged {\n    kind\n  }\n}';
const UNLISTED = '{ pet(id: 1) { id } }';

const directory = mkdtempSync(join(tmpdir(), 'manifest-'));
function written(content: object | string): string {
  const file = join(directory, `${sha256(JSON.stringify(content)).slice(0, 12)}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
const LIST = written(
  manifest(['query', 'Pet', PET], ['mutation', 'Rename', RENAME], ['subscription', 'Changes', CHANGES, 'changes']),
);

let plain: Gateway;
let open: Gateway;
let closed: Gateway;
let pro: TestKey;
let url: string;
beforeAll(async () => {
  plain = await startGateway({});
  await emptyDatabase(plain.database);
  await plain.data(
    'mutation { createCategory(input: { name: "Dogs" }) { id } createPet(input: { name: "Rex", categoryId: 1 }) { id } }',
  );
  pro = await plain.createKey({ plan: 'BUSINESS' });
  open = await plain.another({ TRUSTED_DOCUMENTS: LIST });
  closed = await plain.another({ TRUSTED_DOCUMENTS: LIST, TRUSTED_DOCUMENTS_ONLY: 'true' });
  url = await closed.listen();
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  for (const gateway of [closed, open, plain]) await gateway.close();
});

async function post(gateway: Gateway, payload: object, more: { path?: string; headers?: Record<string, string> } = {}) {
  const answer = await gateway.app.inject({
    method: 'POST',
    url: more.path ?? '/graphql',
    headers: { 'content-type': 'application/json', ...pro.headers, ...more.headers },
    payload: JSON.stringify(payload),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.body, code: codeOf(answer.body) };
}

function get(gateway: Gateway, parameters: Record<string, string>) {
  return gateway.app.inject({
    url: `/graphql?${new URLSearchParams(parameters)}`,
    headers: pro.headers,
  });
}

function codeOf(body: string): string | undefined {
  return /"code":"(\w+)"/.exec(body)?.[1];
}

const apollo = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } });
const variables = { id: 1 };
const REX = '"data":{"pet":{"name":"Rex","__typename":"Pet"}}';

describe.each([
  ['with other documents allowed', () => open],
  ['with other documents rejected', () => closed],
])('trusted documents, %s,', (_name, gateway) => {
  test.each<[string, object]>([
    ["with Apollo's extension", { extensions: apollo(sha256(PET)) }],
    [
      "with Apollo's extension and clientLibrary",
      { extensions: { ...apollo(sha256(PET)), clientLibrary: { name: 'a' } } },
    ],
    ["with Apollo's extension and an empty query", { query: '', extensions: apollo(sha256(PET)) }],
    ['with documentId', { documentId: sha256(PET) }],
    ['with a prefixed documentId', { documentId: `sha256:${sha256(PET)}` }],
    ['as full text', { query: PET }],
    [
      'as full text in another format',
      {
        query: 'fragment Named on Pet { name } # that\n query Pet($id: ID!) { pet(id: $id) { ...Named __typename } }',
      },
    ],
  ])('run when sent %s', async (_how, request) => {
    for (const _ of ['first', 'again']) {
      const { status, body } = await post(gateway(), { operationName: 'Pet', variables, ...request });
      expect(body).toContain(REX);
      expect(status).toBe(200);
    }
  });

  test('run over GET, except mutations, which get 405', async () => {
    const ways: Record<string, string>[] = [
      { documentId: sha256(PET) },
      { extensions: JSON.stringify(apollo(sha256(PET))) },
    ];
    for (const way of ways) {
      const read = await get(gateway(), { ...way, variables: JSON.stringify(variables) } as Record<string, string>);
      expect([read.statusCode, read.body]).toEqual([200, expect.stringContaining(REX)]);
    }
    const write = { documentId: sha256(RENAME), variables: '{"id":1,"name":"Max"}' };
    expect((await get(gateway(), write)).statusCode).toBe(405);
    expect((await plain.data('{ pet(id: 1) { name } }')).pet?.name).toBe('Rex');
  });

  test('report invalid variables like other documents', async () => {
    const { status, code } = await post(gateway(), { documentId: sha256(PET), variables: { id: 'x' } });
    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('are not evicted from the cache by other documents', async () => {
    const admin = { 'x-api-key': undefined as never };
    for (let i = 0; i < 30; i++) await gateway().graphql(`# ${'x'.repeat(90_000)} ${i}\n${UNLISTED}`, undefined, admin);
    expect((await post(gateway(), { documentId: sha256(PET), variables })).body).toContain(REX);
  });

  test.each<[string, object]>([
    ['a documentId that is not a string', { documentId: 7 }],
    ['a documentId and a text', { documentId: sha256(PET), query: PET }],
    ['two ids', { documentId: sha256(PET), extensions: apollo(sha256(PET)) }],
    ['a hash that is not a string', { extensions: apollo({ toString: 1 }) }],
  ])('are rejected when requested with %s', async (_what, request) => {
    const { status, code } = await post(gateway(), { ...request, variables });
    expect([status, code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('a request with an unknown documentId gets 404', async () => {
    for (const documentId of ['', 'nobody', `sha256:${sha256(UNLISTED)}`, '__proto__']) {
      const { status, code } = await post(gateway(), { documentId, variables });
      expect([status, code]).toEqual([404, 'PERSISTED_QUERY_NOT_IN_LIST']);
    }
    expect((await get(gateway(), { documentId: 'nobody' })).statusCode).toBe(404);
  });

  test('run by id over event streams; an unknown id gets 404', async () => {
    const more = { path: '/graphql/stream', headers: { accept: 'text/event-stream' } };
    const { body } = await post(gateway(), { documentId: sha256(PET), variables }, more);
    expect(body).toContain(REX);
    expect((await post(gateway(), { documentId: 'nobody' }, more)).status).toBe(404);
  });
});

describe('automatic persisted queries', () => {
  const text = '{ pet(id: 1) { status } }';

  test('work alongside trusted documents', async () => {
    const unknown = await post(open, { extensions: apollo(sha256(text)) });
    expect([unknown.status, unknown.code]).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND']);
    expect(unknown.body).toContain('"status":200');
    expect((await post(open, { query: text, extensions: apollo(sha256(text)) })).status).toBe(200);
    expect((await post(open, { extensions: apollo(sha256(text)) })).body).toContain('"status":"available"');
  });

  test.each([sha256(text), sha256(PET), 'changes'])('reject a text with the wrong hash: %s', async (hash) => {
    const other = '{ pet(id: 1) { id } }';
    expect((await post(open, { query: other, extensions: apollo(hash) })).status).toBe(400);
    const { body } = await post(open, { extensions: apollo(hash), variables });
    expect(body).not.toContain('"pet":{"id"');
  });

  test.each(['{ nothing }', '{'])('do not store the invalid document %s', async (invalid) => {
    const extensions = apollo(sha256(invalid));
    expect((await post(open, { query: invalid, extensions })).status).toBe(400);
    expect((await post(open, { extensions })).code).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  test('run a mutation by its hash over POST, but not over GET', async () => {
    const mutation = 'mutation { __typename }';
    const extensions = apollo(sha256(mutation));
    expect((await post(open, { query: mutation, extensions })).status).toBe(200);
    expect((await post(open, { extensions })).body).toContain('"data":{"__typename":"Mutation"}');
    expect((await get(open, { extensions: JSON.stringify(extensions) })).statusCode).toBe(405);
  });

  test('are disabled with TRUSTED_DOCUMENTS_ONLY', async () => {
    const unknown = await post(closed, { extensions: apollo(sha256(text)) });
    expect([unknown.status, unknown.code]).toEqual([404, 'PERSISTED_QUERY_NOT_IN_LIST']);
    const kept = await post(closed, { query: text, extensions: apollo(sha256(text)) });
    expect([kept.status, kept.code]).toEqual([200, 'PERSISTED_QUERY_NOT_SUPPORTED']);
    expect(kept.body).toContain('"status":200');
  });
});

describe('with TRUSTED_DOCUMENTS_ONLY', () => {
  test('unlisted documents get 403, even after an admin has run them', async () => {
    expect((await closed.graphql(UNLISTED)).data).toEqual({ pet: { id: '1' } });
    for (const query of [
      UNLISTED,
      'query Pet { pet(id: 1) { name } }',
      `${PET} query Two { __typename pets { totalCount } }`,
    ]) {
      const { status, code } = await post(closed, { query });
      expect([query, status, code]).toEqual([query, 403, 'QUERY_NOT_IN_SAFELIST']);
    }
    expect((await get(closed, { query: UNLISTED })).statusCode).toBe(403);
    const stream = { path: '/graphql/stream', headers: { accept: 'text/event-stream' } };
    const streamed = await post(closed, { query: UNLISTED }, stream);
    expect([streamed.status, streamed.code]).toEqual([403, 'QUERY_NOT_IN_SAFELIST']);
  });

  test.each([
    '{ __schema { queryType { name } } }',
    '{ __typename viewer { plan } rateLimit { cost } }',
    '{ ...F ... { rateLimit { cost } } } fragment F on Query { viewer { plan } }',
  ])('unlisted operations that use no quota are allowed: %s', async (query) => {
    expect((await post(closed, { query })).status).toBe(200);
  });

  test.each([
    '{ viewer { plan } pet(id: 1) { id } }',
    '{ viewer { plan } ... { pet(id: 1) { id } } }',
    '{ viewer { plan } ...F } fragment F on Query { pet(id: 1) { id } }',
    'query A { viewer { plan } } query B { pet(id: 1) { id } }',
    'mutation { __typename }',
    'subscription { petChanged { kind } }',
  ])('other unlisted operations are rejected: %s', async (query) => {
    expect((await post(closed, { query, operationName: 'A' })).status).toBe(403);
  });

  test('REST is unaffected', async () => {
    const pets = await closed.app.inject({ url: '/pets', headers: pro.headers });
    expect([pets.statusCode, pets.json().length]).toEqual([200, 1]);
  });

  test('WebSockets accept trusted documents as text or by id, and reject other documents', async () => {
    const client = createSocketClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { 'x-api-key': pro.whole },
    });
    const ask = (payload: SubscribePayload) => new Received((sink) => client.subscribe(payload, sink));
    const byId = { query: '', extensions: apollo(sha256(PET)), variables };
    expect((await ask(byId).until(1))[0]?.data).toEqual({ pet: { name: 'Rex', __typename: 'Pet' } });
    expect((await ask({ query: PET, variables }).until(1))[0]?.data).toEqual({
      pet: { name: 'Rex', __typename: 'Pet' },
    });
    const refused = await ask({ query: UNLISTED }).untilOver();
    expect(refused.error).toMatchObject([{ extensions: { code: 'QUERY_NOT_IN_SAFELIST', status: 403 } }]);
    const unknown = await ask({ query: '', extensions: apollo('nobody') }).untilOver();
    expect(unknown.error).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST', status: 404 } }]);

    const changes = ask({ query: '', extensions: apollo('changes') });
    await until(async () => (await running(closed)) === 1);
    await post(closed, { documentId: sha256(RENAME), variables: { id: 1, name: 'Rex' } });
    expect((await changes.until(1))[0]?.data).toEqual({ petChanged: { kind: 'UPDATED' } });
    changes.stop();
    await until(async () => (await running(closed)) === 0);
    await client.dispose();
  });
});

const BOUNDS = {
  schema: contractSchema(),
  limits: {
    tokens: 5000,
    depth: 20,
    fields: 2000,
    rootFields: 100,
    aliases: 100,
    fragments: 100,
    repeats: 50,
    directives: 50,
    directivesAtOnce: 5,
    errors: 20,
  },
  costs: { query: 50_000, mutation: 50_000, subscription: 1000, free: 10_000 },
};

describe('startup with a manifest', () => {
  const valid = ['query', 'Pet', PET] as [string, string, string];
  test.each<[string, object | string, string]>([
    ['that is not JSON', '{', 'JSON'],
    [
      'in another format',
      { format: 'relay', operations: [] },
      'is not a manifest of the format apollo-persisted-query-manifest',
    ],
    ['that is null', 'null', 'is not a manifest'],
    ['without operations', { ...manifest(), operations: {} }, 'has no list of operations'],
    [
      'with an operation without a body',
      { ...manifest(), operations: [{ id: 'a', name: 'A', type: 'query' }] },
      'operations[0].body is not a string',
    ],
    ['with a duplicate id', manifest(valid, [...valid, sha256(PET)]), `the id ${sha256(PET)} appears twice`],
    ['with an operation that does not parse', manifest(['query', 'A', 'query A {', '1']), 'query A (1): Syntax Error'],
    [
      'with an operation that is not valid against the schema',
      manifest(valid, ['query', 'A', 'query A { cats { id } }', '1']),
      'query A (1): Cannot query field "cats"',
    ],
    [
      'with an operation whose name differs from its body',
      manifest(['query', 'B', 'query A { __typename }', '1']),
      'query B (1): its body is not a single operation of this type and name',
    ],
    [
      'with an operation whose type differs from its body',
      manifest(['mutation', 'A', 'query A { __typename }', '1']),
      'mutation A (1): its body is not a single operation',
    ],
    [
      'with two operations in one body',
      manifest(['query', 'A', 'query A { __typename } query B { __typename }', '1']),
      'its body is not a single operation',
    ],
    [
      'with an operation over a document limit',
      manifest(['query', 'A', `query A { ${'pets { nodes { category { '.repeat(8)} id ${'} } }'.repeat(8)} }`, '1']),
      'query A (1): The operation is',
    ],
    [
      'with an operation over the cost limit',
      manifest([
        'query',
        'A',
        'query A { categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } } }',
        '1',
      ]),
      'query A (1): The operation has an estimated cost of 2212120; at most 50000 is allowed.',
    ],
    [
      'with a subscription over the cost limit of an event',
      manifest([
        'subscription',
        'A',
        `subscription A { petChanged { pet { ${Array.from({ length: 100 }, (_, i) => `a${i}: category { id name description }`).join(' ')} } } }`,
        '1',
      ]),
      'subscription A (1): An event of the subscription has an estimated cost of 1322; at most 1000 is allowed.',
    ],
    [
      'with an operation that is over the cost limit for all values of its variables',
      manifest([
        'query',
        'A',
        'query A($n: Int!) { pets(first: $n) { nodes { id } } categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } } }',
        '1',
      ]),
      'query A (1): The operation has an estimated cost of 2212140; at most 50000 is allowed.',
    ],
    [
      'with a subscription that selects pages',
      manifest(['subscription', 'A', 'subscription A { petChanged { pet { orders { nodes { id } } } } }', '1']),
      'subscription A (1): An event of a subscription can contain single related objects',
    ],
  ])('%s fails with a one-line error', (_what, content, reason) => {
    const file = written(content);
    expect(() => TrustedDocuments.read(file, BOUNDS)).toThrow(reason);
    expect(() => TrustedDocuments.read(file, BOUNDS)).toThrow(new RegExp(`^TRUSTED_DOCUMENTS ${file}: [^\n]+$`));
  });

  // test/app/start.process.test.ts tests the same in a separate process.
  test('that does not exist fails with a one-line error and creates no admin key', async () => {
    const { apiKey } = plain.database.prisma;
    const keys = await apiKey.count();
    const config = readConfig({
      LOG_LEVEL: 'silent',
      ADMIN_API_KEY: ADMIN_KEY.replace('testadmin000', 'otheradmin00'),
      TRUSTED_DOCUMENTS: join(directory, 'nowhere.json'),
    });
    await expect(createApp(config, plain.database)).rejects.toThrow(
      /^TRUSTED_DOCUMENTS [^\n]*nowhere\.json: ENOENT[^\n]+$/,
    );
    expect(await apiKey.count()).toBe(keys);
  });
});
