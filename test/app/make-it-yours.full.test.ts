import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { buildSchema, parse, validate } from 'graphql';
import { PROJECT } from '../helper/command';
import { type Received, socketClient } from '../helper/live';
import { GatewayProcess } from '../helper/process';
import { Reader, stepsOf, textOf } from './documented';

const PAGE = 'docs/make-it-yours.md';
const run = promisify(execFile);

/** Matches paths that a clone of the repository does not have. */
const NOT_CLONED =
  /^(\.git|dist|data|node_modules|bench\/(node_modules|results)|src\/(database\/generated|portal\/vendor))$/;

/** Copies the project like a fresh clone. In the copy, `node_modules` contains links to the packages installed here. */
function clone(): string {
  const copy = mkdtempSync(join(tmpdir(), 'bookshop-'));
  cpSync(PROJECT, copy, { recursive: true, filter: (path) => !NOT_CLONED.test(relative(PROJECT, path)) });
  mkdirSync(join(copy, 'node_modules'));
  // The copy needs a separate cache, because its tests must not use the cache of these tests.
  for (const name of readdirSync(join(PROJECT, 'node_modules')).filter((each) => each !== '.cache'))
    symlinkSync(join(PROJECT, 'node_modules', name), join(copy, 'node_modules', name));
  return copy;
}

/** Matches a code block, and the file name in the line above it if there is one. */
const BLOCKS = /(?:^`([^`\n]+)`:\n\n)?^```(.*)\n([\s\S]*?)^```/gm;

/** Follows the page in order: writes its files, and runs its `sh run` blocks. @returns the paths of the files. */
async function follow(copy: string): Promise<string[]> {
  const written: string[] = [];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  for (const [, file, info = '', code = ''] of textOf(PAGE).matchAll(BLOCKS)) {
    if (info === 'sh run') {
      const script = `set -e\n${code.replace(/^npm ci$/m, '')}`;
      await run('bash', ['--norc', '-c', script], { cwd: copy, env }).catch(({ message, stdout }) => {
        throw new Error(`${message}\n${stdout}`);
      });
    } else if (file && info.endsWith(' file')) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), code);
      written.push(file);
    }
  }
  return written;
}

let shop: string;
let gateway: GatewayProcess;
let written: string[];
beforeAll(async () => {
  shop = clone();
  written = await follow(shop);
  gateway = await GatewayProcess.start(
    { DATA_DIR: join(shop, 'data'), LOG_LEVEL: 'silent', PATH: process.env.PATH ?? '' },
    [process.execPath, join(shop, 'dist', 'main.js')],
  );
}, 600_000);
afterAll(async () => {
  await gateway?.stop();
  rmSync(shop, { recursive: true, force: true });
});

const get = async (path: string, options?: RequestInit) => {
  const response = await fetch(gateway.url + path, {
    ...options,
    headers: { connection: 'close', ...options?.headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const send = (method: string, path: string, body: object, headers = {}) =>
  get(path, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-api-key': String(gateway.report['Admin key']), ...headers },
  });

test('the bookshop prints its name and URL, and the commands on the page print the output shown there', async () => {
  expect(gateway.stdout).toContain(`Bookshop Gateway 1.0.0 serves at ${gateway.url}`);
  expect(gateway.report.REST).toBe(`${gateway.url}/books`);
  expect(gateway.report['First write']).toContain(`${gateway.url}/shelves `);
  const reader = new Reader(gateway.url, String(gateway.report['Admin key']));
  const steps = stepsOf(PAGE);
  expect(steps.length).toBeGreaterThan(5);
  for (const step of steps) expect([step.commands, await reader.type(step)]).toEqual([step.commands, step.output]);
});

test('the REST API of the bookshop has ETags, pages, uniform errors and rate limit headers', async () => {
  const list = await get('/books?limit=1&sort=-title&shelfId=1');
  expect(JSON.parse(list.text)).toEqual([{ id: 1, title: 'Middlemarch', author: 'George Eliot', shelfId: 1 }]);
  expect(list.headers.get('link')).toMatch(/^<\/books\?limit=1&sort=-title&shelfId=1&cursor=\w+>; rel="next"$/);

  const { headers } = await get('/books/2');
  const etag = headers.get('etag') ?? '';
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    expect(Number(headers.get(name))).toBeGreaterThan(0);
  expect(headers.get('ratelimit')).toMatch(/^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/);
  const change = () => send('PATCH', '/books/2', { author: 'Jane Austen' }, { 'if-match': etag });
  expect(await change()).toMatchObject({ status: 200, text: expect.stringContaining('"author":"Jane Austen"') });
  expect(await change()).toMatchObject({ status: 412, text: expect.stringContaining('"code":"PRECONDITION_FAILED"') });

  const missing = await get('/books/99');
  const requestId = missing.headers.get('x-request-id');
  const error = { code: 'NOT_FOUND', message: 'Book 99 does not exist.', status: 404, requestId };
  expect([missing.status, JSON.parse(missing.text)]).toEqual([404, error]);
  const tooLong = JSON.parse((await get(`/books?title=${'x'.repeat(256)}`)).text);
  expect(tooLong).toMatchObject({
    code: 'BAD_USER_INPUT',
    details: [{ path: 'title', message: expect.stringContaining('255') }],
  });
});

test('the GraphQL API of the bookshop reads shelves with their books, and reports changes', async () => {
  const query = '{ shelves { nodes { name books(orderBy: { field: TITLE }) { totalCount nodes { title } } } } }';
  const nodes = [{ title: 'Emma' }, { title: 'Middlemarch' }];
  expect(await gateway.graphql(query)).toMatchObject({
    data: { shelves: { nodes: [{ name: 'Classics', books: { totalCount: 2, nodes } }] } },
  });

  const client = socketClient(gateway.url);
  const subscribe = (shelf: number): Received =>
    client.subscribe(`subscription { bookChanged(filter: { shelfIds: [${shelf}] }) { kind book { title } } }`);
  const [here, elsewhere] = [subscribe(1), subscribe(2)];
  const deadline = Date.now() + 30_000;
  while (!here.answers.length && Date.now() < deadline) await send('PATCH', '/books/1', { title: 'Middlemarch' });
  expect(here.answers[0]).toMatchObject({ data: { bookChanged: { kind: 'UPDATED', book: { title: 'Middlemarch' } } } });
  expect(elsewhere.answers).toEqual([]);
  client.close();
});

test('the OpenAPI document, the schema and the pages describe the bookshop', async () => {
  const openapi = JSON.parse((await get('/openapi.json')).text);
  expect(Object.keys(openapi.paths)).toEqual([
    ...['/books', '/books/{bookId}', '/shelves', '/shelves/{shelfId}', '/rate_limit', '/usage', '/events'],
  ]);
  expect(openapi.components.schemas.Book.properties.title).toMatchObject({ minLength: 1, maxLength: 255 });
  const schema = buildSchema((await get('/schema.graphql')).text);
  const examples = written.filter((file) => file.endsWith('.graphql'));
  expect(examples).toHaveLength(1);
  const [example = ''] = examples;
  expect(validate(schema, parse(readFileSync(join(shop, example), 'utf8')))).toEqual([]);
  expect((await get('/docs/errors')).text).toContain('SHELF_FULL');
  expect((await get('/')).text).toContain('<title>Bookshop Gateway</title>');
});

test('the rule on a field and the owners of rows hold over GraphQL and REST', async () => {
  const shelf = JSON.parse((await send('POST', '/shelves', { name: 'Novels', places: 1 })).text);
  const book = { title: 'Jane Eyre', author: 'Currer Bell', shelfId: shelf.id, owner: 'user:ada' };
  const { id } = JSON.parse((await send('POST', '/books', book)).text);
  const key = { 'x-api-key': String(gateway.report['Admin key']) };
  expect(JSON.parse((await get(`/books/${id}`, { headers: key })).text)).toMatchObject({ author: 'Charlotte Brontë' });
  expect((await get(`/books/${id}`)).status).toBe(404);
  const query = { query: `{ shelf(id: ${shelf.id}) { books { nodes { author } } } }` };
  const seen = async (headers: object) => (await send('POST', '/graphql', query, headers)).text;
  expect(await seen(key)).toContain('Charlotte Brontë');
  expect(await seen({ 'x-api-key': '' })).not.toMatch(/Charlotte|Currer/);
  expect((await send('DELETE', `/books/${id}`, {})).status).toBe(204);
});
