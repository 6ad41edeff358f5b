import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { CommandError } from '../../src/app/keys/gateway-client';
import { runKeys } from '../../src/app/keys/keys-command';
import { command } from '../helper/command';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
let environment: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  environment = { PETSTORE_URL: await gateway.listen(), PETSTORE_API_KEY: ADMIN_KEY };
});
afterAll(() => gateway.close());

const run = (...args: string[]) => runKeys(args, environment);
const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'));

/** The columns of a text table, by heading. */
function tableOf(text: string): Record<string, string>[] {
  const [head = '', ...rows] = (text.split('\n\n')[0] ?? '').trimEnd().split('\n');
  const columns = [...head.matchAll(/\S+ */g)].map((match) => [match[0].trim(), match.index] as const);
  return rows.map((row) =>
    Object.fromEntries(columns.map(([name, start], i) => [name, row.slice(start, columns[i + 1]?.[1]).trim()])),
  );
}

describe('create', () => {
  test('prints the key as a table, and its full text once', async () => {
    const text = await run('create', '--name', 'Acme', '--plan', 'pro', '--scopes', 'read');
    const [, whole = ''] = /^The key, shown only once:\n\n {2}(ps_[0-9a-z]{12}_[0-9A-Za-z]{32})$/m.exec(text) ?? [];
    expect(tableOf(text)).toEqual([
      {
        id: whole.split('_')[1],
        name: 'Acme',
        plan: 'PRO',
        scopes: 'READ',
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    expect(text.split(whole)).toHaveLength(2);
    const { data } = await gateway.graphql('{ viewer { plan apiKey { name } } }', undefined, {
      'x-api-key': whole,
    });
    expect(data.viewer).toEqual({ plan: 'PRO', apiKey: { name: 'Acme' } });
  });

  test('takes every option; --json prints the response of the gateway', async () => {
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
        lastUsedAt: null,
        createdAt: expect.any(String),
        bannedUntil: null,
      },
    });
  });
});

test('list prints all keys, newest first, across all pages', async () => {
  for (let i = 0; i < 101; i++) await gateway.createKey({ name: `one of many ${i}` });
  const keys = await json('list');
  expect(keys.slice(0, 101).map(({ name }: { name: string }) => name)).toEqual(
    Array.from({ length: 101 }, (_, i) => `one of many ${100 - i}`),
  );
  const table = tableOf(await run('list'));
  expect(table.map(({ id }) => id)).toEqual(keys.map(({ id }: { id: string }) => id));
  expect(JSON.stringify(keys)).not.toMatch(/ps_|hash/i);
});

test('update changes the given fields', async () => {
  const { id } = await gateway.createKey({ name: 'before', expiresAt: '2040-01-01T00:00:00Z' });
  expect(await json('update', id, '--name', 'after')).toMatchObject({ id, name: 'after', plan: 'FREE' });
  expect(await json('update', id, '--plan', 'business')).toMatchObject({ name: 'after', plan: 'BUSINESS' });
  expect(await json('update', id, '--expires', 'never')).toMatchObject({ expiresAt: null, plan: 'BUSINESS' });
  expect(tableOf(await run('update', id, '--scopes', 'write,admin'))).toMatchObject([{ id, scopes: 'WRITE,ADMIN' }]);
});

describe('rotate', () => {
  const isAccepted = async (whole: string) =>
    (await gateway.graphql('{ viewer { plan } }', undefined, { 'x-api-key': whole })).status === 200;

  test('prints the key with its new secret, and the old one still works', async () => {
    const { id, whole } = await gateway.createKey({ name: 'Acme' });
    const text = await run('rotate', id, '--grace', '24h');
    const [, fresh = ''] = /^The key with its new secret, shown only once:\n\n {2}(ps_\w+)$/m.exec(text) ?? [];
    expect(tableOf(text)).toMatchObject([{ id, name: 'Acme' }]);
    expect(fresh).not.toBe(whole);
    expect([await isAccepted(whole), await isAccepted(fresh)]).toEqual([true, true]);
  });

  test.each([
    [[], 86_400],
    [['--grace', '90'], 90],
    [['--grace', '90s'], 90],
    [['--grace', '30m'], 1800],
    [['--grace', '24h'], 86_400],
    [['--grace', '7d'], 604_800],
  ])('with %j leaves the old secret %i seconds', async (args, seconds) => {
    const { id } = await gateway.createKey();
    const before = Date.now();
    expect(await json('rotate', id, ...args)).toMatchObject({ secret: expect.stringMatching(/^ps_/), apiKey: { id } });
    const { previousSecretUntil } = await gateway.database.prisma.apiKey.findUniqueOrThrow({ where: { id } });
    const grace = Number(previousSecretUntil) - before - seconds * 1000;
    expect(grace).toBeGreaterThanOrEqual(0);
    expect(grace).toBeLessThan(10_000);
  });

  test('with --grace 0 ends it at once', async () => {
    const { id, whole } = await gateway.createKey();
    const { secret } = await json('rotate', id, '--grace', '0');
    expect([await isAccepted(whole), await isAccepted(secret)]).toEqual([false, true]);
  });
});

test('revoke revokes a key', async () => {
  const key = await gateway.createKey();
  expect(tableOf(await run('revoke', key.id))).toMatchObject([{ id: key.id, revokedAt: expect.stringMatching(/Z$/) }]);
  expect((await gateway.graphql('{ viewer { plan } }', undefined, key.headers)).status).toBe(401);
});

test('unban lifts a ban, and says if there was none', async () => {
  const { id, headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 9 });
  const ask = () => gateway.graphql('{ pets { totalCount } }', undefined, headers);
  for (let i = 0; i < 22; i++) await ask();
  expect((await ask()).errors[0]?.extensions?.code).toBe('KEY_BANNED');
  expect(await run('unban', id)).toBe(`The ban of ${id} is lifted.\n`);
  expect((await ask()).errors[0]?.extensions?.code).toBe('RATE_LIMITED');
  expect(await run('unban', id)).toBe(`${id} was not banned.\n`);
  expect(await json('unban', '192.0.2.1')).toEqual({ lifted: false });
});

describe('the gateway and the key are taken from', () => {
  test.each<[string, string[], () => Record<string, string>]>([
    ['--url and --key', [], () => ({})],
    [
      '--url and --key before the environment',
      [],
      () => ({ PETSTORE_URL: 'http://127.0.0.1:2', PETSTORE_API_KEY: 'x' }),
    ],
  ])('%s', async (_what, _args, other) => {
    const args = ['list', '--url', String(environment.PETSTORE_URL), '--key', ADMIN_KEY];
    expect(await runKeys(args, other())).toContain('first admin key');
  });

  test('PORT, without --url and PETSTORE_URL', async () => {
    const PORT = new URL(String(environment.PETSTORE_URL)).port;
    for (const none of [{}, { PETSTORE_URL: '' }])
      expect(await runKeys(['list'], { PORT, PETSTORE_API_KEY: ADMIN_KEY, ...none })).toContain('first admin key');
  });

  test('ADMIN_API_KEY, without any other key', async () => {
    const { PETSTORE_URL = '' } = environment;
    for (const none of [{}, { PETSTORE_API_KEY: '' }])
      expect(await runKeys(['list'], { PETSTORE_URL, ADMIN_API_KEY: ADMIN_KEY, ...none })).toContain('first admin key');
  });
});

describe('errors are readable', () => {
  const rejection = async (args: string[], more: Record<string, string> = {}) => {
    const error = await runKeys(args, { ...environment, ...more }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommandError);
    return (error as CommandError).message;
  };

  test.each<[string[], string]>([
    [['make'], 'Unknown command: make.\n\nUsage: '],
    [['toString'], 'Unknown command: toString.\n\nUsage: '],
    [['revoke'], 'revoke takes one id.\n\nUsage: '],
    [['list', 'all'], 'list takes no id.\n\nUsage: '],
    [['revoke', 'a', 'b'], 'revoke takes one id.\n\nUsage: '],
    [['usage', 'a', 'b'], 'usage takes at most one id.\n\nUsage: '],
    [['list', '--colour'], "Unknown option '--colour'"],
    [['create', '--name', 'x', '--plan', 'gold'], '--plan: '],
    [['create', '--name', 'x', '--scopes', 'root'], '--scopes: '],
    [['create'], 'create requires --name.\n\nUsage: '],
    [['create', '--name', ' '], '--name: must not be empty\nSee --help for the options.'],
    [['create', '--name', 'x', '--per-minute', 'many'], '--per-minute must be a whole number, not "many".'],
    [['create', '--name', 'x', '--per-day', ''], '--per-day must be a whole number, not "".'],
    [['create', '--name', 'x', '--per-day', '5'], '--per-day: must not be given for the plan FREE'],
    [
      ['create', '--name', 'x', '--plan', 'enterprise'],
      '--per-minute: must be given for the plan ENTERPRISE; --per-day: ',
    ],
    [['create', '--name', 'x', '--expires', 'tomorrow'], '--expires: DateTime must be a real date-time'],
    [['rotate'], 'rotate takes one id.\n\nUsage: '],
    [['rotate', 'zzzzzzzzzzzz'], 'API key zzzzzzzzzzzz does not exist.'],
    [['rotate', 'zzzzzzzzzzzz', '--grace', 'soon'], '--grace must be a duration such as 24h, not "soon".'],
    [['rotate', 'zzzzzzzzzzzz', '--grace', '31d'], '--grace: must be an integer from 0 to 2592000 seconds\nSee --help'],
    [['update', 'zzzzzzzzzzzz', '--name', 'x'], 'API key zzzzzzzzzzzz does not exist.'],
    [['revoke', 'zzzzzzzzzzzz'], 'API key zzzzzzzzzzzz does not exist.'],
    [['revoke', 'ps_x'], 'revoke takes a key id: 12 lower-case letters or digits, as `list` shows them.'],
    [['update', 'ABCDEFGHIJKL', '--name', 'x'], 'update takes a key id: 12 lower-case letters or digits'],
    [['unban', 'nobody'], 'caller: must be a key id or an IP address'],
    [['list', '--url', 'nowhere'], 'nowhere is not a URL.'],
    [
      ['list', '--url', 'http://127.0.0.1:2'],
      'No gateway responds at http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2',
    ],
    [['list', '--url', 'http://localhost:2'], 'No gateway responds at http://localhost:2: '],
    [
      ['list', '--key', 'wrong'],
      'Not an API key: send ps_<id>_<secret> as X-API-Key, or as Authorization: Bearer ps_<id>_<secret>. Pass an admin key with --key or PETSTORE_API_KEY.',
    ],
    [
      ['list', '--key', ''],
      'This operation needs an API key with the scope ADMIN. Pass an admin key with --key or PETSTORE_API_KEY.',
    ],
  ])('%j', async (args, message) => {
    const told = await rejection(args);
    expect(told.slice(0, message.length + 5)).toContain(message);
    expect(told).not.toMatch(/: $|undefined|fetch failed|\n +at /);
  });

  test('a key without the scope', async () => {
    const { whole } = await gateway.createKey();
    expect(await rejection(['list'], { PETSTORE_API_KEY: whole })).toBe(
      'This operation needs an API key with the scope ADMIN; this key does not have it.',
    );
  });

  describe('another server', () => {
    let other: Server;
    let answer = '';
    beforeAll(async () => {
      other = createServer((_request, response) => response.writeHead(404).end(answer)).listen(0, '127.0.0.1');
      await once(other, 'listening');
    });
    afterAll(() => other.close());

    test.each(['<h1>Not found</h1>', '', 'null', '[]', '{"error":"not found"}', '{"data":null}'])(
      'that responds with %j',
      async (text) => {
        answer = text;
        const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
        expect(await rejection(['list', '--url', url])).toBe(
          `${url} is not a Petstore Gateway: it responded with 404 and no GraphQL.`,
        );
      },
    );
  });
});

describe('the process', () => {
  const start = async (...args: string[]) => {
    const [program, ...options] = command('keys');
    const child = spawn(program, [...options, ...args], { env: environment, cwd: tmpdir() });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    const [code] = await once(child, 'close');
    return { code, ...output };
  };

  test('prints its result and exits with 0', async () => {
    const { code, stdout, stderr } = await start('list', '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).at(-1)).toMatchObject({ name: 'first admin key' });
  });

  test('prints its usage with --help and without a command', async () => {
    for (const args of [['--help'], ['-h'], []]) {
      expect(await start(...args)).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^Usage: /),
        stderr: '',
      });
    }
  });

  test('prints errors to stderr and exits with 1', async () => {
    expect(await start('revoke', 'zzzzzzzzzzzz')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'API key zzzzzzzzzzzz does not exist.\n',
    });
  });
});

describe('usage', () => {
  test('prints what a key used on each day', async () => {
    const key = await gateway.createKey({ name: 'used' });
    for (let i = 0; i < 3; i++) await gateway.app.inject({ url: '/pets', headers: key.headers });
    const days = tableOf(await run('usage', key.id));
    expect(days).toHaveLength(30);
    const today = new Date().toISOString().slice(0, 10);
    expect(days[29]).toEqual({ date: today, requests: '3', refused: '0', bans: '0' });
    expect(await json('usage', key.id, '--days', '2')).toEqual([
      expect.objectContaining({ requests: 0 }),
      { date: today, requests: 3, refused: 0, bans: 0 },
    ]);
  });

  test('without an id prints who used most, and anonymous callers as one', async () => {
    await gateway.app.inject({ url: '/pets', headers: { 'x-api-key': undefined } });
    const callers = tableOf(await run('usage', '--days', '1'));
    expect(callers.map(({ id }) => id)).toEqual(expect.arrayContaining(['testadmin000', 'anonymous']));
    const requests = callers.map((caller) => Number(caller.requests));
    expect(requests).toEqual([...requests].sort((a, b) => b - a));
  });

  test.each([
    [['usage', 'nobodynobody'], 'API key nobodynobody does not exist.'],
    [['usage', 'Rex'], 'usage takes a key id: 12 lower-case letters or digits, as `list` shows them.'],
    [['usage', '--days', '401'], '--days: must be an integer from 1 to 400\nSee --help for the options.'],
    [['usage', '--days', 'many'], '--days must be a whole number, not "many".'],
  ])('%j is refused', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(new CommandError(message));
  });
});
