import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, readConfig } from '../../src/app/config';
import { PROJECT } from '../helper/command';

test('the default settings have the documented values', () => {
  expect(readConfig({})).toEqual({
    PORT: 4000,
    HOST: '127.0.0.1',
    WEB_CONCURRENCY: 1,
    DATABASE_URL: undefined,
    DATABASE_POOL_SIZE: 10,
    EVENTS_KEPT_DAYS: 30,
    GRAPHQL_MAX_TOKENS: 5000,
    GRAPHQL_MAX_DEPTH: 20,
    GRAPHQL_MAX_COST: 50_000,
    TRUSTED_DOCUMENTS: undefined,
    TRUSTED_DOCUMENTS_ONLY: false,
    SUBGRAPH: false,
    REQUEST_TIMEOUT_MS: 10_000,
    MAX_RESPONSE_BYTES: 5_000_000,
    HEADERS_TIMEOUT_MS: 10_000,
    KEEP_ALIVE_TIMEOUT_MS: 72_000,
    MAX_CONNECTIONS: 10_000,
    MAX_REQUESTS_IN_PROGRESS: 1000,
    MAX_SUBSCRIPTIONS_PER_CALLER: 100,
    SHUTDOWN_DELAY_MS: 500,
    METRICS_PORT: undefined,
    DATA_DIR: resolve('data'),
    REDIS_URL: undefined,
    ANONYMOUS_ACCESS: 'read',
    JWT_ISSUER: undefined,
    JWT_AUDIENCE: undefined,
    JWT_JWKS_URL: undefined,
    JWT_PLAN: 'FREE',
    JWT_SCOPES: ['READ', 'ORDER'],
    JWT_SCOPE_CLAIM: undefined,
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

test.each<[name: string, value: string, meaning: unknown]>([
  ['PORT', '0', 0],
  ['PORT', '65535', 65_535],
  ['HOST', '::', '::'],
  ['DATABASE_URL', 'postgresql://me:pass@db:5432/shop', 'postgresql://me:pass@db:5432/shop'],
  ['DATABASE_URL', 'postgres://db/shop?sslmode=require', 'postgres://db/shop?sslmode=require'],
  ['DATA_DIR', '/var/lib/petstore', '/var/lib/petstore'],
  ['DATA_DIR', 'here', resolve('here')],
  ['REDIS_URL', 'rediss://user:pass@cache', 'rediss://user:pass@cache'],
  ['ANONYMOUS_ACCESS', 'none', 'none'],
  ['ANONYMOUS_ACCESS', 'read', 'read'],
  ['ANONYMOUS_ACCESS', 'write', 'write'],
  ['ADMIN_API_KEY', KEY, KEY],
  ['TRUST_PROXY', '0', 0],
  ['TRUST_PROXY', '2', 2],
  ['TRUST_PROXY', '10.0.0.0/8, fd00::/8 ,::1', ['10.0.0.0/8', 'fd00::/8', '::1']],
  ['BAN_AFTER', '1', 1],
  ['BAN_SECONDS', '86400', 86_400],
  ['BAN_MAX_SECONDS', '604800', 604_800],
  ['CORS_ORIGINS', '*', ['*']],
  ['CORS_ORIGINS', 'https://a.example, http://localhost:3000', ['https://a.example', 'http://localhost:3000']],
  ['TRUSTED_DOCUMENTS', 'manifest.json', resolve('manifest.json')],
  ['TRUSTED_DOCUMENTS_ONLY', 'false', false],
  ['SUBGRAPH', 'true', true],
  ['LOG_LEVEL', 'silent', 'silent'],
  ['NODE_ENV', 'production', 'production'],
])('%s=%s is accepted', (name, value, meaning) => {
  expect(readConfig({ [name]: value })).toMatchObject({ [name]: meaning });
});

test.each([
  ['DATABASE_URL', 'postgresql://me:secret@db/shop'],
  ['REDIS_URL', 'redis://cache'],
  ['ADMIN_API_KEY', KEY],
  ['HOST', '0.0.0.0'],
])('white space after %s is ignored, since the values of Secrets often end with a line break', (name, value) => {
  for (const end of ['\n', '\r\n', ' ', '\t\n'])
    expect(readConfig({ [name]: `${value}${end}` })).toMatchObject({ [name]: value });
  expect(readConfig({ PORT: '80\n', SUBGRAPH: 'true\r\n' })).toMatchObject({ PORT: 80, SUBGRAPH: true });
});

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(Object.keys(readConfig({})).map((name) => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

const INVALID: Record<string, string[]> = {
  PORT: ['-1', '65536', '80.5', '1e3', '0x50', 'http', ' 80', '99999999999999999999'],
  WEB_CONCURRENCY: ['0', '-1', 'auto', '257'],
  DATABASE_URL: ['mysql://db/shop', 'shop', '://', 'postgresql://one,two/shop', 'hunter2://hunter2'],
  REDIS_URL: ['http://cache', 'cache:6379', 'hunter2://hunter2'],
  ANONYMOUS_ACCESS: ['admin', 'Read', 'true', 'read,write'],
  ADMIN_API_KEY: ['hunter2', KEY.toUpperCase(), `${KEY}x`, KEY.slice(0, -1), ` ${KEY}`],
  TRUST_PROXY: ['true', '-1', '1.5', 'proxy', '10.0.0.0/33', '10.0.0.0/', '::1/129', '10.0.0.1, x', ',', ' '],
  BAN_AFTER: ['0', '1000001', 'x', '-5'],
  BAN_SECONDS: ['0', '86401'],
  BAN_MAX_SECONDS: ['0', '604801'],
  CORS_ORIGINS: ['shop.example', 'https://shop.example/', 'https://*.example', 'null', 'ftp//x', ','],
  TRUSTED_DOCUMENTS_ONLY: ['yes', '1', 'TRUE'],
  LOG_LEVEL: ['loud', 'INFO', 'info\ndebug'],
  NODE_ENV: ['prod', 'staging'],
};

test.each(Object.entries(INVALID).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  '%s=%j is rejected with a one-line error that names the variable and contains no secret',
  (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be (?!.*hunter2)[^\n]+$`));
  },
);

const ISSUER = { JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'shop' };

test.each<[name: string, value: string, meaning: unknown]>([
  ['JWT_PLAN', 'business', 'BUSINESS'],
  ['JWT_SCOPES', 'read  Write', ['READ', 'WRITE']],
  ['JWT_SCOPES', 'None', []],
  ['JWT_JWKS_URL', 'https://id.example/keys', 'https://id.example/keys'],
  ['JWT_JWKS_URL', 'http://127.0.0.1:9000/keys', 'http://127.0.0.1:9000/keys'],
])('with an issuer, %s=%s is accepted', (name, value, meaning) => {
  expect(readConfig({ ...ISSUER, [name]: value })).toMatchObject({ [name]: meaning });
});

test.each([
  ['JWT_PLAN', 'enterprise'],
  ['JWT_SCOPES', 'ADMIN'],
  ['JWT_SCOPES', 'READ,WRITE'],
  ['JWT_JWKS_URL', 'http://id.example/keys'],
  ['JWT_JWKS_URL', 'http://127.0.0.1.evil.example/keys'],
  ['JWT_JWKS_URL', 'keys'],
])('with an issuer, %s=%s is rejected', (name, value) => {
  expect(() => readConfig({ ...ISSUER, [name]: value })).toThrow(new RegExp(`^${name} must be [^\\n]+$`));
});

const POSTGRES = { DATABASE_URL: 'postgresql://db/shop' };
const REDIS = { REDIS_URL: 'redis://cache' };

test.each<[environment: Record<string, string>, message: string]>([
  [{ ...REDIS, WEB_CONCURRENCY: '2' }, 'DATABASE_URL must be set when WEB_CONCURRENCY is more than 1'],
  [{ ...POSTGRES, WEB_CONCURRENCY: '2' }, 'REDIS_URL must be set when WEB_CONCURRENCY is more than 1'],
  [{ JWT_ISSUER: 'https://id.example' }, 'JWT_AUDIENCE must be set when JWT_ISSUER is set'],
  [{ JWT_ISSUER: 'shop', JWT_AUDIENCE: 'x' }, 'JWT_JWKS_URL must be set when JWT_ISSUER is not a URL with https'],
  [{ JWT_AUDIENCE: 'shop' }, 'JWT_AUDIENCE has no effect, because JWT_ISSUER is not set'],
  [{ JWT_SCOPES: 'none' }, 'JWT_SCOPES has no effect, because JWT_ISSUER is not set'],
  [{ METRICS_PORT: '4000' }, 'METRICS_PORT must be different from PORT, which is 4000'],
  [{ TRUSTED_DOCUMENTS_ONLY: 'true' }, 'TRUSTED_DOCUMENTS must be set when TRUSTED_DOCUMENTS_ONLY is true'],
])('the settings %j are rejected', (environment, message) => {
  expect(() => readConfig(environment)).toThrow(new ConfigError(message));
});

test.each<Record<string, string>>([
  { ...POSTGRES, ...REDIS, WEB_CONCURRENCY: '2' },
  { ...REDIS, WEB_CONCURRENCY: '1' },
  { PORT: '0', METRICS_PORT: '0' },
  { TRUSTED_DOCUMENTS: '/list.json', TRUSTED_DOCUMENTS_ONLY: 'true' },
])('the settings %j are accepted', (environment) => {
  expect(() => readConfig(environment)).not.toThrow();
});

test('DATABASE_URL in compose.yaml has no password, and nothing that would need an encoding', () => {
  const compose = readFileSync(join(PROJECT, 'compose.yaml'), 'utf8');
  const [, url = ''] = /DATABASE_URL: (.*)$/m.exec(compose) ?? [];
  expect(new URL(url)).toMatchObject({ protocol: 'postgresql:', username: 'petstore', password: '' });
  expect(url).not.toContain('$');
});
