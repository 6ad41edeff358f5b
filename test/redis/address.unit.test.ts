import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRedisAddress, placeOfRedis } from '../../src/redis/redis-address';

const NONE = {
  master: undefined,
  db: 0,
  username: undefined,
  password: undefined,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
  tls: undefined,
};
const [A, B] = [
  { host: 'a', port: 1 },
  { host: 'b', port: 2 },
];

test.each<[string, object, string]>([
  ['redis://cache', { form: 'server', hosts: [{ host: 'cache', port: 6379 }] }, 'cache:6379'],
  ['redis://a:1/', { form: 'server', hosts: [A] }, 'a:1'],
  ['redis://a:1/7', { form: 'server', hosts: [A], db: 7 }, 'a:1/7'],
  ['redis://:p@a:1', { form: 'server', hosts: [A], password: 'p' }, 'a:1'],
  ['redis://u:p:w@a:1', { form: 'server', hosts: [A], username: 'u', password: 'p:w' }, 'a:1'],
  ['redis://u%40:p%2F%25+@a:1', { form: 'server', hosts: [A], username: 'u@', password: 'p/%+' }, 'a:1'],
  ['redis://[::1]:1', { form: 'server', hosts: [{ host: '::1', port: 1 }] }, '[::1]:1'],
  ['rediss://a:1', { form: 'server', hosts: [A], tls: {} }, 'a:1'],
  ['redis+sentinel://a:1,b:2/shop', { form: 'sentinel', hosts: [A, B], master: 'shop' }, 'a:1,b:2/shop'],
  [
    'redis+sentinel://a,b/my.shop_1-x/3',
    {
      form: 'sentinel',
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26379 },
      ],
      master: 'my.shop_1-x',
      db: 3,
    },
    'a:26379,b:26379/my.shop_1-x/3',
  ],
  [
    'rediss+sentinel://u:p@a:1/shop?sentinel_username=s&sentinel_password=q%20+',
    {
      form: 'sentinel',
      hosts: [A],
      master: 'shop',
      username: 'u',
      password: 'p',
      sentinelUsername: 's',
      sentinelPassword: 'q +',
      tls: {},
    },
    'a:1/shop',
  ],
  ['redis+cluster://a:1,b:2', { form: 'cluster', hosts: [A, B] }, 'a:1,b:2'],
  ['redis+cluster://u:p@a:1/0', { form: 'cluster', hosts: [A], username: 'u', password: 'p' }, 'a:1'],
  ['rediss+cluster://a:1', { form: 'cluster', hosts: [A], tls: {} }, 'a:1'],
])('%s is parsed', (url, expected, place) => {
  const address = parseRedisAddress(url);
  expect(address).toEqual({ ...NONE, ...expected });
  expect(placeOfRedis(address)).toBe(place);
});

test('certificates and keys are read from the files in the URL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  const file = (name: string) => join(directory, name);
  for (const name of ['ca', 'cert', 'key']) writeFileSync(file(name), name);
  const files = `sslrootcert=${file('ca')}&sslcert=${file('cert')}&sslkey=${file('key')}`;
  const { tls } = parseRedisAddress(`rediss+cluster://a:1?${files}`);
  expect(tls).toEqual({ ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') });
  expect(() => parseRedisAddress(`rediss://a:1?sslrootcert=${file('none')}`)).toThrow(
    `must name a readable file in sslrootcert: ${JSON.stringify(file('none'))} (ENOENT)`,
  );
  rmSync(directory, { recursive: true });
});

const FORM = {
  server: 'must be of the form redis://[user:password@]host[:port][/database]: ',
  sentinel: 'must be of the form redis+sentinel://[user:password@]host[:port],host[:port]/master-name[/database]: ',
  cluster: 'must be of the form redis+cluster://[user:password@]host[:port],host[:port]: ',
};

test.each([
  ['redis://a/x', `${FORM.server}the database must be a number`],
  ['redis://a/1/2', `${FORM.server}the database must be a number`],
  ['redis://a:1,b:2', `${FORM.server}several hosts need redis+sentinel:// or redis+cluster://`],
  ['redis://a:0', `${FORM.server}hosts must be names or addresses, with ports from 1 to 65535`],
  ['redis://a:65536', `${FORM.server}hosts must be names or addresses, with ports from 1 to 65535`],
  ['redis://', `${FORM.server}user and password must be percent-encoded, and a host is needed`],
  ['redis://a#b', `${FORM.server}user and password must be percent-encoded, and a host is needed`],
  ['redis://u:%zz@a', `${FORM.server}user and password must be percent-encoded`],
  ['redis://a?family=6', `${FORM.server}parameters are allowed only with TLS (rediss://)`],
  ['rediss://a?ca=x', `${FORM.server}the allowed parameters are sslrootcert, sslcert, sslkey`],
  ['rediss://a?sslcert=x', `${FORM.server}sslcert and sslkey must be given together`],
  ['redis+sentinel://a:1,b:2', `${FORM.sentinel}the name of the master is missing`],
  ['redis+sentinel://a:1/', `${FORM.sentinel}the name of the master is missing`],
  ['redis+sentinel://a:1,/shop', `${FORM.sentinel}hosts must be names or addresses, with ports from 1 to 65535`],
  ['redis+sentinel://a:1/shop/x', `${FORM.sentinel}the database must be a number`],
  ['redis+cluster://a:1/1', `${FORM.cluster}a cluster has no numbered databases`],
  ['redis+socket://a', 'must be a URL that starts with redis://, rediss://, redis+sentinel:// or redis+cluster://'],
])('%s is rejected, and the error says which form is required', (url, message) => {
  expect(() => parseRedisAddress(url)).toThrow(new Error(message));
});

test.each([
  'redis://user:hunter2',
  'redis://user:hunter2@',
  'redis://user:hun@ter2@cache',
  'redis://user:hunter2/@cache',
  'redis://user:hunter2#@cache',
  'redis://user:hunter2?@cache',
  'redis://user:hunter2%@cache',
  'redis://user:hunter2@cache?password=hunter2',
  'redis://user:hunter2@cache/hunter2',
  'redis+sentinel://user:1/hunter2@a:1,b:2/shop',
  'redis+sentinel://a:1/shop?sentinel_password=hunter2&x=hunter2',
  'redis+cluster://user:hunter2@a:1,hunter2 b',
])('the error contains no part of the password: %s', (url) => {
  expect(() => parseRedisAddress(url)).toThrow(/^(?!.*(hun|ter2))must be /);
});
