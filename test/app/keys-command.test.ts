import { Console } from 'node:console';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runKeys } from '../../src/app/keys-command';
import { CommandError } from '../../src/app/run-command';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
let environment: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  environment = { PETSTORE_URL: await gateway.listen(), PETSTORE_API_KEY: ADMIN_KEY };
});
afterAll(() => gateway.close());

/** Runs the command. @returns what it prints. */
async function run(args: string[], variables = environment): Promise<string> {
  const stdout = new PassThrough();
  await runKeys(args, variables, new Console(stdout));
  return text(stdout.end());
}

const json = async (...args: string[]) => JSON.parse(await run([...args, '--json']));
const viewer = (whole: string) =>
  gateway.graphql('{ viewer { plan apiKey { name } } }', undefined, { 'x-api-key': whole });
const isAccepted = async (whole: string) => (await viewer(whole)).status === 200;

/** The rows of a table that `console.table` has printed. The keys are the column headings. */
function tableOf(printed: string): Record<string, string>[] {
  const lines = printed.split('\n').filter((line) => line.startsWith('│'));
  const [names = [], ...rows] = lines.map((line) =>
    line
      .split('│')
      .slice(2, -1)
      .map((cell) => cell.trim()),
  );
  return rows.map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i]?.replaceAll("'", '') ?? ''])));
}

test('--help, -h and no command print the usage', async () => {
  for (const args of [['--help'], ['-h'], []]) expect(await run(args)).toMatch(/^Usage: /);
});

describe('create', () => {
  test('prints a table with the fields of the key, and the whole key exactly once', async () => {
    const text = await run(['create', '--name', 'Acme', '--plan', 'pro', '--scopes', 'read']);
    const [, whole = ''] = /^The key, shown only once:\n\n {2}(ps_[0-9a-z]{12}_[0-9A-Za-z]{32})$/m.exec(text) ?? [];
    const row = { id: whole.split('_')[1], name: 'Acme', plan: 'PRO', scopes: 'READ' };
    expect(tableOf(text)).toEqual([{ ...row, createdAt: expect.stringMatching(/Z$/) }]);
    expect(text.split(whole)).toHaveLength(2);
    expect((await viewer(whole)).data.viewer).toEqual({ plan: 'PRO', apiKey: { name: 'Acme' } });
  });

  test('accepts every option; --json prints the response of the gateway', async () => {
    const options = ['--plan', 'Enterprise', '--per-minute', '5', '--per-day', '50', '--scopes', 'read, admin'];
    expect(await json('create', '--name', 'Agreed', ...options, '--expires', '2040-01-01T00:00:00Z')).toEqual({
      secret: expect.stringMatching(/^ps_/),
      apiKey: {
        id: expect.stringMatching(/^[0-9a-z]{12}$/),
        name: 'Agreed',
        plan: 'ENTERPRISE',
        scopes: ['READ', 'ADMIN'],
        perMinute: 5,
        perDay: 50,
        expiresAt: '2040-01-01T00:00:00.000Z',
        revokedAt: null,
        oldSecretExpiresAt: null,
        sharesQuotaOf: null,
        lastUsedAt: null,
        createdAt: expect.any(String),
        bannedUntil: null,
      },
    });
  });
});

test('list prints the keys of all pages, newest first, and no secret', async () => {
  for (let i = 0; i < 101; i++) await gateway.createKey({ name: `one of many ${i}` });
  const keys: { id: string; name: string }[] = await json('list');
  const names = Array.from({ length: 101 }, (_, i) => `one of many ${100 - i}`);
  expect(keys.slice(0, 101).map(({ name }) => name)).toEqual(names);
  expect(tableOf(await run(['list'])).map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  expect(JSON.stringify(keys)).not.toMatch(/ps_|hash/i);
});

test('update changes the given fields', async () => {
  const { id } = await gateway.createKey({ name: 'before', expiresAt: '2040-01-01T00:00:00Z' });
  expect(await json('update', id, '--name', 'after')).toMatchObject({ id, name: 'after', plan: 'FREE' });
  expect(await json('update', id, '--plan', 'business')).toMatchObject({ name: 'after', plan: 'BUSINESS' });
  expect(await json('update', id, '--expires', 'never')).toMatchObject({ expiresAt: null, plan: 'BUSINESS' });
  expect(tableOf(await run(['update', id, '--scopes', 'write,admin']))).toMatchObject([{ id, scopes: 'WRITE,ADMIN' }]);
});

describe('rotate', () => {
  test('prints the key with its new secret', async () => {
    const { id, whole } = await gateway.createKey({ name: 'Acme' });
    const text = await run(['rotate', id, '--grace', '24h']);
    const [, fresh = ''] = /^The key with its new secret, shown only once:\n\n {2}(ps_\w+)$/m.exec(text) ?? [];
    expect(tableOf(text)).toMatchObject([{ id, name: 'Acme' }]);
    expect(fresh).not.toBe(whole);
    expect(await isAccepted(fresh)).toBe(true);
  });

  test.each([
    [[], 86_400],
    [['--grace', '0'], 0],
    [['--grace', '90'], 90],
    [['--grace', '90s'], 90],
    [['--grace', '30m'], 1800],
    [['--grace', '7d'], 604_800],
  ])('with the options %j keeps the old secret valid for %i seconds', async (args, seconds) => {
    const { id, whole } = await gateway.createKey();
    const before = Date.now();
    expect(await json('rotate', id, ...args)).toMatchObject({ secret: expect.stringMatching(/^ps_/), apiKey: { id } });
    expect(await isAccepted(whole)).toBe(seconds > 0);
    const { previousSecretUntil } = await gateway.database.prisma.apiKey.findUniqueOrThrow({ where: { id } });
    const grace = Number(previousSecretUntil ?? before) - before - seconds * 1000;
    expect(grace).toBeGreaterThanOrEqual(0);
    expect(grace).toBeLessThan(10_000);
  });
});

test('revoke revokes a key', async () => {
  const { id, whole } = await gateway.createKey();
  expect(tableOf(await run(['revoke', id]))).toMatchObject([{ id, revokedAt: expect.stringMatching(/Z$/) }]);
  expect(await isAccepted(whole)).toBe(false);
});

test('unban lifts a ban, and reports if there was no ban', async () => {
  const { id, headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 9 });
  const code = async () => (await gateway.app.inject({ url: '/pets', headers })).json().code;
  for (let i = 0; i < 22; i++) await code();
  expect(await code()).toBe('KEY_BANNED');
  expect(await run(['unban', id])).toBe(`The ban of ${id} is lifted.\n`);
  expect(await code()).toBe('RATE_LIMITED');
  expect(await run(['unban', id])).toBe(`${id} was not banned.\n`);
  expect(await json('unban', '192.0.2.1')).toEqual({ lifted: false });
});

describe('usage', () => {
  test('prints the usage of a key for each day', async () => {
    const { id, headers } = await gateway.createKey();
    for (let i = 0; i < 3; i++) await gateway.app.inject({ url: '/pets', headers });
    const days = tableOf(await run(['usage', id]));
    expect(days).toHaveLength(30);
    const date = new Date().toISOString().slice(0, 10);
    expect(days[29]).toEqual({ date, requests: '3', refused: '0', bans: '0' });
    expect(await json('usage', id, '--days', '2')).toEqual([
      expect.objectContaining({ requests: 0 }),
      { date, requests: 3, refused: 0, bans: 0 },
    ]);
  });

  test('without an id, prints the callers with the most requests, and one row for all anonymous callers', async () => {
    await gateway.app.inject({ url: '/pets', headers: { 'x-api-key': undefined } });
    const callers = tableOf(await run(['usage', '--days', '1']));
    expect(callers.map(({ id }) => id)).toEqual(expect.arrayContaining(['testadmin000', 'anonymous']));
    const requests = callers.map((caller) => Number(caller.requests));
    expect(requests).toEqual([...requests].sort((a, b) => b - a));
  });
});

describe('the gateway and the key are taken from', () => {
  const NOWHERE = { PETSTORE_URL: 'http://127.0.0.1:2', PETSTORE_API_KEY: 'x' };
  test.each<[string, (url: string) => Record<string, string>, boolean?]>([
    ['--url and --key', () => ({}), true],
    ['--url and --key even if the environment has other values', () => NOWHERE, true],
    ['PORT, if there is no URL', (url) => ({ PORT: new URL(url).port, PETSTORE_URL: '', PETSTORE_API_KEY: ADMIN_KEY })],
    [
      'ADMIN_API_KEY, if there is no other key',
      (url) => ({ PETSTORE_URL: url, ADMIN_API_KEY: ADMIN_KEY, PETSTORE_API_KEY: '' }),
    ],
  ])('%s', async (_what, variables, hasOptions = false) => {
    const { PETSTORE_URL: url = '' } = environment;
    const options = hasOptions ? ['--url', url, '--key', ADMIN_KEY] : [];
    const given = Object.entries(variables(url));
    for (const set of [given, given.filter(([, value]) => value)])
      expect(await run(['list', ...options], Object.fromEntries(set))).toContain('first admin key');
  });
});

async function errorOf(args: string[], more: Record<string, string> = {}): Promise<string> {
  const error = await run(args, { ...environment, ...more }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommandError);
  return (error as CommandError).message;
}

const KEY_ID = 'takes a key id: 12 lower-case letters or digits. `list` shows the key ids.';
const ADMIN_NEEDED = 'Pass an admin key with --key or PETSTORE_API_KEY.';

test.each<[string, string]>([
  ['make', 'Unknown command: make.\n\nUsage: '],
  ['toString', 'Unknown command: toString.\n\nUsage: '],
  ['revoke', 'revoke takes one id.\n\nUsage: '],
  ['list all', 'list takes no id.\n\nUsage: '],
  ['revoke a b', 'revoke takes one id.\n\nUsage: '],
  ['usage a b', 'usage takes at most one id.\n\nUsage: '],
  ['list --colour', "Unknown option '--colour'"],
  ['create --name x --plan gold', '--plan: '],
  ['create --name x --scopes root', '--scopes: '],
  ['create', 'create requires --name.\n\nUsage: '],
  ['create --name ', '--name: must not be empty\nSee --help for the options.'],
  ['create --name x --per-minute many', '--per-minute must be a whole number, not "many".'],
  ['create --name x --per-day ', '--per-day must be a whole number, not "".'],
  ['create --name x --per-day 5', '--per-day: must not be given for the plan FREE'],
  ['create --name x --plan enterprise', '--per-minute: must be given for the plan ENTERPRISE; --per-day: '],
  ['create --name x --expires tomorrow', '--expires: must be a real date-time'],
  ['rotate', 'rotate takes one id.\n\nUsage: '],
  ['rotate zzzzzzzzzzzz', 'API key zzzzzzzzzzzz does not exist.'],
  ['rotate zzzzzzzzzzzz --grace soon', '--grace must be a duration such as 24h, not "soon".'],
  ['rotate zzzzzzzzzzzz --grace 31d', '--grace: must be an integer from 0 to 2592000 seconds\nSee --help'],
  ['update zzzzzzzzzzzz --name x', 'API key zzzzzzzzzzzz does not exist.'],
  ['revoke zzzzzzzzzzzz', 'API key zzzzzzzzzzzz does not exist.'],
  ['revoke ps_x', `revoke ${KEY_ID}`],
  ['update ABCDEFGHIJKL --name x', `update ${KEY_ID}`],
  ['unban nobody', "caller: must be a key id, an IP address or a user's id"],
  ['usage nobodynobody', 'API key nobodynobody does not exist.'],
  ['usage Rex', `usage ${KEY_ID}`],
  ['usage --days 401', '--days: must be an integer from 1 to 400\nSee --help for the options.'],
  ['usage --days many', '--days must be a whole number, not "many".'],
  ['list --url nowhere', 'nowhere is not a URL.'],
  ['list --url http://127.0.0.1:2', 'No gateway responds at http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2'],
  ['list --url http://localhost:2', 'No gateway responds at http://localhost:2: '],
  [
    'list --key wrong',
    `Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>. ${ADMIN_NEEDED}`,
  ],
  ['list --key ', `This operation needs an API key with the scope ADMIN. ${ADMIN_NEEDED}`],
])('`%s` fails with a readable error', async (command, message) => {
  const error = await errorOf(command.split(' '));
  expect(error.slice(0, message.length + 5)).toContain(message);
  expect(error).not.toMatch(/: $|undefined|fetch failed|\n +at /);
});

test('a key without the scope ADMIN fails with a readable error', async () => {
  const { whole } = await gateway.createKey();
  expect(await errorOf(['list'], { PETSTORE_API_KEY: whole })).toBe(
    'This operation needs an API key with the scope ADMIN; this key does not have it.',
  );
});

test('if the server is not a gateway, the error says so, for every response of the server', async () => {
  let body = '';
  const other = createServer((_request, response) => response.writeHead(404).end(body)).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  for (body of ['<h1>Not found</h1>', '', 'null', '[]', '{"error":"not found"}', '{"data":null}'])
    expect(await errorOf(['list', '--url', url])).toBe(
      `${url} is not a Petstore Gateway: it responded with status 404, and not with a GraphQL response.`,
    );
  other.close();
});
