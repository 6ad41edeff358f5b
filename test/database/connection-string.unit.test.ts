import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConnectionString, withTlsVariables } from '../../src/database/postgres/connection-string';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  writeFileSync(join(directory, 'ca.pem'), 'the authority');
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The configuration that node-postgres gets for a connection string. */
const read = (text: string) => parseConnectionString(text).config();

test.each([
  ['postgresql://db', { host: 'db', port: 5432, ssl: false }],
  ['postgres://me:secret@db:5433/shop', { user: 'me', password: 'secret', host: 'db', port: 5433, database: 'shop' }],
  ['postgresql://me:p%40%2F%3F%23%25@db/shop', { password: 'p@/?#%', host: 'db' }],
  ['postgresql://me:p@ss@db/shop', { password: 'p@ss', host: 'db' }],
  ['postgresql://[::1]:5433/shop', { host: '::1', port: 5433 }],
  ['postgresql://me@/shop?host=/run/postgresql', { user: 'me', host: '/run/postgresql', port: 5432, database: 'shop' }],
  ['postgresql://%2Frun%2Fpostgresql:5433/shop', { host: '/run/postgresql', port: 5433 }],
  ['postgresql:///shop?host=/run/postgresql&sslmode=require', { host: '/run/postgresql', ssl: false }],
  ['postgresql://db/shop?user=me&password=secret&port=5433', { user: 'me', password: 'secret', port: 5433 }],
  [
    'postgresql://db/shop?application_name=pets&options=-c%20geqo%3Doff',
    { application_name: 'pets', options: '-c geqo=off' },
  ],
])('%s is parsed to the configuration of node-postgres', (text, config) => {
  expect(read(text)).toMatchObject(config);
});

test.each([
  ['postgresql://db', 'db:5432/'],
  ['postgresql:///shop', 'localhost:5432/shop'],
  ['postgresql://me:secret@db:5433/shop?sslmode=require', 'db:5433/shop'],
  ['postgresql://[::1]:5433/shop', '[::1]:5433/shop'],
  ['postgresql://me@/shop?host=/run/postgresql&port=5433', '/run/postgresql:5433/shop'],
])('%s is shown in messages as %s', (text, place) => {
  expect(parseConnectionString(text).place).toBe(place);
});

test.each([
  ['', { isPooled: false, mustTakeWrites: false }],
  ['target_session_attrs=any', { mustTakeWrites: false }],
  ['target_session_attrs=read-write', { mustTakeWrites: true }],
  ['target_session_attrs=primary', { mustTakeWrites: true }],
  ['pgbouncer=false', { isPooled: false }],
  ['pgbouncer=true', { isPooled: true }],
])('postgresql://db/shop?%s is parsed to %j', (query, meaning) => {
  expect(parseConnectionString(`postgresql://db/shop?${query}`)).toMatchObject(meaning);
});

test.each([
  ['disable', false],
  ['require', { rejectUnauthorized: false }],
  ['verify-full', {}],
])('sslmode=%s has the same meaning as in libpq', (mode, ssl) => {
  expect(read(`postgresql://db/shop?sslmode=${mode}`).ssl).toEqual(ssl);
});

test('the CA certificate is read from sslrootcert; only sslmode=verify-full also checks the host name', () => {
  const ssl = (mode: string) => read(`postgresql://db/shop?sslmode=${mode}&sslrootcert=${directory}/ca.pem`).ssl;
  expect(ssl('verify-full')).toEqual({ ca: 'the authority' });
  expect(ssl('verify-ca')).toEqual({ ca: 'the authority', checkServerIdentity: expect.any(Function) });
  expect(ssl('require')).toEqual({ ca: 'the authority', checkServerIdentity: expect.any(Function) });
  expect(read('postgresql://db/shop?sslmode=verify-full&sslrootcert=system').ssl).toEqual({});
});

const SECRET = 'hunter2';

test.each([
  ['a slash in the password', `postgresql://me:12/${SECRET}@db/shop`],
  ['a slash after an at sign', `postgresql://me:a@12/${SECRET}@db/shop`],
  ['a number sign in the password', `postgresql://me:12#${SECRET}@db/shop`],
  ['a question mark in the password', `postgresql://me:12?${SECRET}=1@db/shop`],
  ['a percent sign in the password', `postgresql://me:12%${SECRET}@db/shop`],
  ['bytes that are not UTF-8', `postgresql://me:%ff${SECRET}@db/shop`],
  ['a space in the password', `postgresql://me:12 ${SECRET}@db/shop`],
  ['a line break in the password', `postgresql://me:12\n${SECRET}@db/shop`],
  ['an ampersand in the password', `postgresql://db/shop?password=12&${SECRET}=1`],
  ['a host with a port that is not a number', `postgresql://me:${SECRET}@db:x/shop`],
  ['a port parameter that is not a number', `postgresql://me:${SECRET}@db/shop?port=5433x`],
  ['a port that is too small', `postgresql://me:${SECRET}@db:0/shop`],
  ['a port that is too large', `postgresql://me:${SECRET}@db:65536/shop`],
  ['a list of hosts', `postgresql://me:${SECRET}@one,two:5433/shop?target_session_attrs=read-write`],
  ['a host parameter with several hosts', `postgresql://me:${SECRET}@/shop?host=one,two`],
  ['a list of hosts with ports', `postgresql://me:${SECRET}@one:5432,two:5433/shop`],
  ['target_session_attrs=standby', `postgresql://me:${SECRET}@one/shop?target_session_attrs=standby`],
  ['an unsupported sslmode', `postgresql://me:${SECRET}@db/shop?sslmode=prefer`],
  ['an sslmode that needs sslrootcert', `postgresql://me:${SECRET}@db/shop?sslmode=verify-ca`],
  ['a file that does not exist', `postgresql://me:${SECRET}@db/shop?sslmode=verify-full&sslrootcert=/none.pem`],
  ['an unsupported parameter', `postgresql://me:${SECRET}@db/shop?schema=pets`],
  ['another protocol', `mysql://me:${SECRET}@db/shop`],
])('%s is rejected with a one-line error that contains no part of the password', (_what, text) => {
  expect(() => parseConnectionString(text)).toThrow(/^must (?!.*(hunter|12))[^\n]+$/);
});

test('the error names the unsupported parameter, or the invalid value', () => {
  const refusal = (query: string) => () => parseConnectionString(`postgresql://db/shop?${query}`);
  expect(refusal('schema=pets')).toThrow(/"schema"/);
  expect(refusal('host=one,two')).toThrow(
    'must be a URL with one host. For several servers, use the URL of HAProxy, Pgpool-II or a managed endpoint',
  );
  expect(refusal('pgbouncer=1')).toThrow(/pgbouncer=true or false, not "1"/);
  expect(refusal('sslmode=prefer')).toThrow(/sslmode=disable or require or verify-ca or verify-full, not "prefer"/);
  expect(refusal('sslmode=verify-full&sslrootcert=/none.pem')).toThrow(/ENOENT \/none\.pem/);
});

describe("libpq's variables for TLS", () => {
  const ca = () => join(directory, 'ca.pem');
  const configOf = (text: string, environment: Record<string, string>) =>
    parseConnectionString(withTlsVariables(text, environment)).config();

  test('apply unless the URL has the parameter: otherwise connections would not be encrypted', () => {
    expect(configOf('postgresql://db', { PGSSLMODE: 'require' }).ssl).toMatchObject({ rejectUnauthorized: false });
    expect(configOf('postgresql://db/shop?application_name=a', { PGSSLMODE: 'verify-full' }).ssl).toBeTruthy();
    expect(configOf('postgresql://db?sslmode=disable', { PGSSLMODE: 'require' }).ssl).toBe(false);
    const ssl = { ca: 'the authority' };
    expect(configOf('postgresql://db', { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: ca() }).ssl).toMatchObject(ssl);
    expect(configOf('postgresql://db?sslmode=verify-full', { PGSSLROOTCERT: ca() }).ssl).toMatchObject(ssl);
  });

  test.each(['disable', 'allow', 'prefer', ''])('PGSSLMODE=%s allows plain text', (PGSSLMODE) => {
    expect(configOf('postgresql://db', { PGSSLMODE }).ssl).toBe(false);
  });

  test('are checked', () => {
    expect(() => configOf('postgresql://db', { PGSSLMODE: 'on' })).toThrow('must have sslmode=');
    expect(() => configOf('postgresql://db', { PGSSLMODE: 'require', PGSSLCERT: '/nowhere' })).toThrow('/nowhere');
  });
});
