import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIV3 } from 'openapi-types';
import { PROJECT } from './helper/command';
import { stopListening } from './helper/connections';
import { Example } from './helper/example';
import { GatewayProcess } from './helper/process';

const NAMES = ['field', 'resource', 'deprecation', 'migration'] as const;

const examples = new Map<string, Example>();
let failures: readonly unknown[];
let gateway: GatewayProcess;

beforeAll(async () => {
  // The examples' responses are described by their own documents.
  stopListening();
  const built = await Promise.allSettled(NAMES.map(async (name) => examples.set(name, await Example.build(name))));
  failures = built.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  // Four compilers at once take half a minute of two cores, and more of busy ones.
}, 300_000);
afterAll(async () => {
  await gateway?.stop('SIGKILL');
  for (const example of examples.values()) await example.remove();
});

/** @throws the reason if its patch could not be applied or built. */
function example(name: (typeof NAMES)[number]): Example {
  const found = examples.get(name);
  if (found) return found;
  throw failures.find((reason) => String(reason).includes(`${name}.patch`)) ?? new Error(`no example ${name}`);
}

async function rest(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
  const json = body === undefined ? undefined : { body: JSON.stringify(body) };
  const headers = { connection: 'close', ...(json && { 'content-type': 'application/json' }), ...more };
  const response = await fetch(gateway.url + path, { method, headers, ...json });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

async function openApi(): Promise<{ schemas: Record<string, OpenAPIV3.SchemaObject>; paths: OpenAPIV3.PathsObject }> {
  const { body } = await rest('GET', '/openapi.json');
  return { schemas: body.components.schemas, paths: body.paths };
}

test('CONTRIBUTING has these examples', () => {
  const text = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8');
  const linked = [...text.matchAll(/\]\(docs\/examples\/(\w+\.patch)\)/g)].map(([, patch]) => patch);
  expect(linked).toEqual(NAMES.map((name) => `${name}.patch`));
  expect(readdirSync(join(PROJECT, 'docs', 'examples')).sort()).toEqual([...linked].sort());
});

describe('a field: Pet.birthday', () => {
  const birthday = '2024-02-29';
  beforeAll(async () => {
    gateway = await example('field').start();
    await rest('POST', '/categories', { name: 'Dogs' });
    await rest('POST', '/pets', { name: 'Rex', categoryId: 1, birthday });
  });

  test('is in schema.graphql and in the OpenAPI document', async () => {
    const { schema } = example('field');
    expect(schema.match(/^ {2}(birthday|bornBefore): Date$/gm)).toHaveLength(4);
    const { schemas, paths } = await openApi();
    const date = { type: 'string', format: 'date' };
    expect(schemas.Pet?.properties?.birthday).toMatchObject(date);
    expect(schemas.NewPet?.properties?.birthday).toMatchObject(date);
    expect(schemas.PetUpdate?.properties?.birthday).toMatchObject({ ...date, nullable: true });
    expect(paths['/pets']?.get?.parameters).toContainEqual(
      expect.objectContaining({ name: 'bornBefore', schema: expect.objectContaining(date) }),
    );
  });

  test('is written and read in REST; PUT without it, and PATCH with null, clear it', async () => {
    const pet = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
    const birthdays: unknown[] = [];
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { name: 'Rex', categoryId: 1 }],
      ['PATCH', { birthday: '0099-12-31' }],
      ['PATCH', { name: 'Rex' }],
      ['PATCH', { birthday: null }],
      ['PUT', { name: 'Rex', categoryId: 1, birthday }],
    ] as const) {
      const answer = await rest(method, '/pets/1', body);
      expect([answer.status, answer.body]).toMatchObject([200, pet]);
      const [listed] = (await rest('GET', '/pets')).body;
      expect(listed).toEqual(answer.body);
      birthdays.push(answer.body.birthday);
    }
    expect(birthdays).toEqual([birthday, undefined, '0099-12-31', '0099-12-31', undefined, birthday]);
  });

  test('filters, by days that are the same in every time zone', async () => {
    expect((await rest('GET', `/pets?bornBefore=${birthday}`)).body).toEqual([]);
    expect((await rest('GET', '/pets?bornBefore=2024-03-01')).body).toMatchObject([{ birthday }]);
    const query = '{ pets(filter: { bornBefore: "2024-03-01" }) { totalCount edges { node { birthday } } } }';
    expect(await gateway.graphql(query)).toMatchObject({
      data: { pets: { totalCount: 1, edges: [{ node: { birthday } }] } },
    });
  });

  test('is written and read in GraphQL', async () => {
    const create = `createPet(input: { name: "Max", categoryId: 1, birthday: "1900-01-01" }) { id birthday }`;
    const clear = 'updatePet(id: 2, input: { birthday: null }) { birthday }';
    expect(await gateway.graphql(`mutation { ${create} ${clear} }`)).toMatchObject({
      data: { createPet: { id: '2', birthday: '1900-01-01' }, updatePet: { birthday: null } },
    });
    expect(await gateway.graphql('{ pet(id: 1) { birthday } pets { nodes { birthday } } }')).toMatchObject({
      data: { pet: { birthday }, pets: { nodes: [{ birthday }, { birthday: null }] } },
    });
  });

  test.each([['2023-02-29'], ['0000-01-01'], ['2024-02-29T00:00:00Z'], [20240229]])('%j is refused', async (day) => {
    expect(await rest('PATCH', '/pets/1', { birthday: day })).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT', details: [{ path: 'birthday' }] },
    });
    const query = `mutation { updatePet(id: 1, input: { birthday: ${JSON.stringify(day)} }) { id } }`;
    expect(await gateway.graphql(query)).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });
});

describe('a resource: customers', () => {
  const ada = { name: 'Ada', email: 'ada@example.org' };
  beforeAll(async () => {
    gateway = await example('resource').start();
  });

  test('are in schema.graphql and in the OpenAPI document', async () => {
    expect(example('resource').schema).toMatch(/^ {2}createCustomer\($/m);
    const { schemas, paths } = await openApi();
    expect(schemas.Customer?.required).toEqual(['id', 'name', 'email']);
    expect(Object.keys(paths['/customers'] ?? {})).toEqual(['get', 'post']);
    expect(paths['/customers']?.get?.description).not.toContain('Filters');
    expect(Object.keys(paths['/customers/{customerId}'] ?? {})).toEqual(['get', 'put', 'patch', 'delete']);
  });

  test('are created, read, changed and deleted in REST', async () => {
    const created = await rest('POST', '/customers', { ...ada, name: ' Ada ' });
    expect([created.status, created.headers.get('location')]).toEqual([201, '/customers/1']);
    expect(created.body).toEqual({ id: 1, ...ada });
    expect((await rest('GET', '/customers')).body).toEqual([{ id: 1, ...ada }]);
    const replaced = { name: 'Ada L.', email: 'ada@example.com' };
    expect((await rest('PUT', '/customers/1', replaced)).body).toEqual({ id: 1, ...replaced });
    expect((await rest('PATCH', '/customers/1', ada)).body).toEqual({ id: 1, ...ada });
    const stale = String(created.headers.get('etag'));
    expect((await rest('PATCH', '/customers/1', {}, { 'if-match': stale })).status).toBe(200);
    await rest('PATCH', '/customers/1', { name: 'Eve' });
    expect((await rest('PUT', '/customers/1', replaced, { 'if-match': stale })).status).toBe(412);
    expect((await rest('DELETE', '/customers/1', undefined, { 'if-match': stale })).status).toBe(412);
    const refused = await rest('POST', '/customers', { name: '', email: null });
    expect(refused.body.details).toEqual([
      { path: 'name', message: 'must not be empty' },
      { path: 'email', message: 'must not be null' },
    ]);
    expect((await rest('DELETE', '/customers/1')).status).toBe(204);
    expect((await rest('GET', '/customers/1')).status).toBe(404);
    expect((await rest('PATCH', '/customers/1', ada)).body.code).toBe('NOT_FOUND');
  });

  test('are created, read, changed and deleted in GraphQL', async () => {
    const create = 'createCustomer(input: { name: "Ada", email: "ada@example.org" }) { id }';
    const update = 'updateCustomer(id: 2, input: { name: "Eve" }) { name }';
    expect(await gateway.graphql(`mutation { ${create} ${update} }`)).toMatchObject({
      data: { createCustomer: { id: '2' }, updateCustomer: { name: 'Eve' } },
    });
    const page = 'customers(first: 1) { nodes { name } totalCount pageInfo { hasNextPage } }';
    expect(await gateway.graphql(`{ customer(id: 2) { email } ${page} }`)).toMatchObject({
      data: {
        customer: { email: ada.email },
        customers: { nodes: [{ name: 'Eve' }], totalCount: 1, pageInfo: { hasNextPage: false } },
      },
    });
    expect(await gateway.graphql('mutation { deleteCustomer(id: 2) { id } }')).toMatchObject({
      data: { deleteCustomer: { id: '2' } },
    });
  });
});

test('a deprecated field is announced in headers, in the extensions and in the metric', async () => {
  const [line] = /^ {2}categoryId: ID! .*$/m.exec(example('deprecation').schema) ?? [];
  expect(line).toMatch(/@sunset\(.*@deprecated\(|@deprecated\(.*@sunset\(/);
  gateway = await example('deprecation').start();
  await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await gateway.graphql('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
  const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent('{ pet(id: 1) { categoryId } }')}`, {
    headers: { 'apollo-require-preflight': 'true', connection: 'close' },
  });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    deprecation: `@${Date.UTC(2026, 10, 1) / 1000}`,
    sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
    link: expect.stringContaining('rel="deprecation"'),
  });
  expect(await response.json()).toMatchObject({
    data: { pet: { categoryId: '1' } },
    extensions: { deprecations: [{ coordinate: 'Pet.categoryId', sunset: '2027-11-01', replacement: 'Pet.category' }] },
  });
  const metrics = await (await fetch(`${gateway.url}/metrics`, { headers: { connection: 'close' } })).text();
  expect(metrics).toMatch(/^petstore_marked_uses_total\{[^}]*"Pet\.categoryId"[^}]*\} 1$/m);
});

test('a migration changes the data of the version before, when the next one starts', async () => {
  const { data, schema } = example('migration');
  expect(schema.match(/A short description of the category, 1 to 2000 characters\./g)).toHaveLength(2);
  gateway = await GatewayProcess.start({ DATA_DIR: data, LOG_LEVEL: 'silent' });
  const before = [{ name: 'Dogs', description: '' }, { name: 'Cats', description: 'Quiet' }, { name: 'Fish' }];
  for (const category of before) expect((await rest('POST', '/categories', category)).body).toMatchObject(category);
  expect(await gateway.stop()).toMatchObject({ code: 0 });

  gateway = await example('migration').start();
  const after = [
    { id: 1, name: 'Dogs' },
    { id: 2, name: 'Cats', description: 'Quiet' },
    { id: 3, name: 'Fish' },
  ];
  expect((await rest('GET', '/categories')).body).toEqual(after);
  expect(await rest('PATCH', '/categories/2', { description: ' ' })).toMatchObject({
    status: 400,
    body: { details: [{ path: 'description', message: 'must not be empty' }] },
  });
  const { schemas } = await openApi();
  expect(schemas.NewCategory?.properties?.description).toMatchObject({ minLength: 1 });
});
