import { resolve } from 'node:path';
import { ConfigError, readConfig } from '../src/app/config';

test('the defaults are those documented', () => {
  expect(readConfig({})).toEqual({
    PORT: 4000,
    HOST: '127.0.0.1',
    WEB_CONCURRENCY: 1,
    DATABASE_URL: undefined,
    DATABASE_POOL_SIZE: 10,
    DATABASE_QUEUE: 1000,
    GRAPHQL_MAX_TOKENS: 5000,
    GRAPHQL_MAX_DEPTH: 20,
    GRAPHQL_MAX_FIELDS: 2000,
    GRAPHQL_MAX_ROOT_FIELDS: 100,
    GRAPHQL_MAX_ALIASES: 100,
    GRAPHQL_MAX_FRAGMENTS: 100,
    GRAPHQL_MAX_REPEATS: 50,
    GRAPHQL_MAX_DIRECTIVES: 50,
    GRAPHQL_MAX_DIRECTIVES_AT_ONCE: 5,
    GRAPHQL_MAX_ERRORS: 20,
    GRAPHQL_MAX_COST: 50_000,
    GRAPHQL_MAX_EVENT_COST: 250,
    TRUSTED_DOCUMENTS: undefined,
    TRUSTED_DOCUMENTS_ONLY: false,
    SUBGRAPH: false,
    REQUEST_TIMEOUT_MS: 10_000,
    MAX_RESPONSE_BYTES: 5_000_000,
    HEADERS_TIMEOUT_MS: 10_000,
    KEEP_ALIVE_TIMEOUT_MS: 72_000,
    MAX_CONNECTIONS: 10_000,
    MAX_REQUESTS_PER_CONNECTION: 10_000,
    MAX_REQUESTS_IN_PROGRESS: 1000,
    MAX_SUBSCRIPTIONS_PER_CALLER: 100,
    MAX_EVENT_LOOP_LAG_MS: 500,
    SHUTDOWN_DELAY_MS: 500,
    METRICS_PORT: undefined,
    DATA_DIR: resolve('data'),
    REDIS_URL: undefined,
    ANONYMOUS_ACCESS: undefined,
    ADMIN_API_KEY: undefined,
    TRUST_PROXY: undefined,
    BAN_AFTER: 20,
    BAN_SECONDS: 60,
    BAN_MAX_SECONDS: 3600,
    CORS_ORIGINS: undefined,
    LOG_LEVEL: 'info',
    NODE_ENV: 'development',
  });
});

const KEY = `ps_${'a1'.repeat(6)}_${'aB3d'.repeat(8)}`;

const GOOD: [name: string, value: string, meaning: unknown][] = [
  ['PORT', '0', 0],
  ['PORT', '65535', 65_535],
  ['HOST', '0.0.0.0', '0.0.0.0'],
  ['HOST', '::', '::'],
  ['HOST', 'localhost', 'localhost'],
  ['WEB_CONCURRENCY', '1', 1],
  ['DATABASE_URL', 'postgresql://me:pass@db:5432/shop', 'postgresql://me:pass@db:5432/shop'],
  ['DATABASE_URL', 'postgres://db/shop?sslmode=require', 'postgres://db/shop?sslmode=require'],
  ['DATA_DIR', '/var/lib/petstore', '/var/lib/petstore'],
  ['DATA_DIR', 'here', resolve('here')],
  ['REDIS_URL', 'redis://127.0.0.1:6379/1', 'redis://127.0.0.1:6379/1'],
  ['REDIS_URL', 'rediss://user:pass@cache', 'rediss://user:pass@cache'],
  ['ANONYMOUS_ACCESS', 'none', 'none'],
  ['ANONYMOUS_ACCESS', 'read', 'read'],
  ['ANONYMOUS_ACCESS', 'write', 'write'],
  ['ADMIN_API_KEY', KEY, KEY],
  ['TRUST_PROXY', '0', 0],
  ['TRUST_PROXY', '2', 2],
  ['TRUST_PROXY', '10.0.0.1', ['10.0.0.1']],
  ['TRUST_PROXY', '10.0.0.0/8, fd00::/8 ,::1', ['10.0.0.0/8', 'fd00::/8', '::1']],
  ['BAN_AFTER', '1', 1],
  ['BAN_SECONDS', '86400', 86_400],
  ['BAN_MAX_SECONDS', '604800', 604_800],
  ['CORS_ORIGINS', 'https://shop.example', ['https://shop.example']],
  ['CORS_ORIGINS', '*', ['*']],
  ['CORS_ORIGINS', 'https://a.example, http://localhost:3000', ['https://a.example', 'http://localhost:3000']],
  ['TRUSTED_DOCUMENTS', 'manifest.json', resolve('manifest.json')],
  ['TRUSTED_DOCUMENTS_ONLY', 'false', false],
  ['SUBGRAPH', 'true', true],
  ['LOG_LEVEL', 'silent', 'silent'],
  ['NODE_ENV', 'production', 'production'],
];
test.each(GOOD)('%s=%s', (name, value, meaning) => {
  expect(readConfig({ [name]: value })).toMatchObject({ [name]: meaning });
});

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(Object.keys(readConfig({})).map((name) => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

const BAD: [name: string, value: string][] = [
  ...['-1', '65536', '80.5', '1e3', '0x50', 'http', ' 80', '99999999999999999999'].map(
    (value) => ['PORT', value] as [string, string],
  ),
  ...['0', '-1', 'auto', '257'].map((value) => ['WEB_CONCURRENCY', value] as [string, string]),
  ...['mysql://db/shop', 'shop', 'http://db', '://', 'postgresql://one,two/shop'].map(
    (value) => ['DATABASE_URL', value] as [string, string],
  ),
  ...['http://cache', 'cache:6379'].map((value) => ['REDIS_URL', value] as [string, string]),
  ...['admin', 'Read', 'true', 'read,write'].map((value) => ['ANONYMOUS_ACCESS', value] as [string, string]),
  ...['secret', KEY.toUpperCase(), `${KEY}x`, KEY.slice(0, -1), ` ${KEY}`].map(
    (value) => ['ADMIN_API_KEY', value] as [string, string],
  ),
  ...['true', '-1', '1.5', 'proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', '10.0.0.1, x', ',', ' '].map(
    (value) => ['TRUST_PROXY', value] as [string, string],
  ),
  ...['0', '1000001', 'x', '-5'].map((value) => ['BAN_AFTER', value] as [string, string]),
  ...['0', '86401'].map((value) => ['BAN_SECONDS', value] as [string, string]),
  ...['0', '604801'].map((value) => ['BAN_MAX_SECONDS', value] as [string, string]),
  ...[
    'shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://*.example',
    'null',
    'ftp//x',
    ',',
  ].map((value) => ['CORS_ORIGINS', value] as [string, string]),
  ...['yes', '1', 'TRUE'].map((value) => ['TRUSTED_DOCUMENTS_ONLY', value] as [string, string]),
  ...['loud', 'INFO'].map((value) => ['LOG_LEVEL', value] as [string, string]),
  ...['prod', 'staging'].map((value) => ['NODE_ENV', value] as [string, string]),
];
test.each(BAD)('%s=%j is refused in one line that names the variable', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be [^\n]+$`));
});

test.each(['DATABASE_URL', 'REDIS_URL', 'ADMIN_API_KEY'])(
  'an invalid %s, which may hold a secret, is not printed',
  (name) => {
    expect(() => readConfig({ [name]: 'hunter2://hunter2' })).toThrow(/^(?!.*hunter2)/);
  },
);

test.each([
  ['DATABASE_URL', { REDIS_URL: 'redis://cache' }],
  ['REDIS_URL', { DATABASE_URL: 'postgresql://db/shop' }],
])('several workers need a %s', (name, given) => {
  const message = `${name} must be set when WEB_CONCURRENCY is more than 1`;
  expect(() => readConfig({ ...given, WEB_CONCURRENCY: '2' })).toThrow(new ConfigError(message));
  expect(readConfig({ ...given, WEB_CONCURRENCY: '1' })).toMatchObject(given);
});

test('metrics have a port of their own, or none', () => {
  const message = 'METRICS_PORT must be another port than PORT, which is 4000';
  expect(() => readConfig({ METRICS_PORT: '4000' })).toThrow(new ConfigError(message));
  expect(readConfig({ PORT: '0', METRICS_PORT: '0' })).toMatchObject({ PORT: 0, METRICS_PORT: 0 });
});

test('allowing only trusted documents requires a list of them', () => {
  const message = 'TRUSTED_DOCUMENTS must be set when TRUSTED_DOCUMENTS_ONLY is true';
  expect(() => readConfig({ TRUSTED_DOCUMENTS_ONLY: 'true' })).toThrow(new ConfigError(message));
  const both = { TRUSTED_DOCUMENTS: '/list.json', TRUSTED_DOCUMENTS_ONLY: 'true' };
  expect(readConfig(both)).toMatchObject({ TRUSTED_DOCUMENTS_ONLY: true });
});

test('a multi-line value is reported in one line', () => {
  expect(() => readConfig({ LOG_LEVEL: 'info\ndebug' })).toThrow(/^LOG_LEVEL [^\n]+$/);
});
