import { FailureLog } from '../../src/http/failure-log';
import { type Gateway, startGateway } from '../helper/gateway';
import { ANONYMOUS, ask, type Headers } from './client';

let gateway: Gateway;
const instances = new Map<string, Gateway>();
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  for (const instance of instances.values()) await instance.close();
  await gateway.close();
});

type Request = readonly [remoteAddress: string, headers?: Headers];
type Row = [TRUST_PROXY: string, name: string, isShared: boolean, requests: readonly Request[]];

const from = (...addresses: string[]): Request[] => addresses.map((address) => [address]);
/** Requests that a proxy has forwarded. */
const via = (...lists: string[]): Request[] => lists.map((list) => ['10.0.0.1', { 'x-forwarded-for': list }]);

const ROWS: Row[] = [
  ['', 'requests from one address count as one caller', true, from('192.0.2.1', '192.0.2.1', '192.0.2.1')],
  ['', 'different addresses are different callers', false, from('192.0.3.1', '192.0.3.2', '192.0.4.1')],
  [
    '',
    'an IPv4 address and its IPv4-mapped IPv6 forms are one caller',
    true,
    from('192.0.5.1', '::ffff:192.0.5.1', '::ffff:c000:501'),
  ],
  [
    '',
    'an IPv6 /64 is one caller',
    true,
    from('2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff:ffff:ffff:ffff'),
  ],
  ['', 'different /64s are different callers', false, from('2001:db8:2:1::1', '2001:db8:2:2::1', '2001:db8:3:1::1')],
  ...['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'].map(
    (name, i): Row => {
      const said = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) =>
        name === 'forwarded' ? `for=${address}` : address,
      );
      return ['', `${name} is not trusted`, true, said.map((value) => [`203.0.113.${i}`, { [name]: value }])];
    },
  ),
  ['1', 'clients behind the proxy are different callers', false, via('192.0.2.1', '192.0.2.2', '192.0.2.3')],
  [
    '1',
    'addresses that the client itself sends in X-Forwarded-For are ignored',
    true,
    via('192.0.3.1', '9.9.9.1, 192.0.3.1', '9.9.9.2,9.9.9.3,192.0.3.1'),
  ],
  ['1', 'IPv6 clients of one /64 share a quota', true, via('2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2::3')],
  [
    '1',
    'clients whose addresses have ports are different callers',
    false,
    via('192.0.6.1:4711', '[2001:db8:6:1::1]:4711', '[2001:db8:6:2::1]'),
  ],
  ['1', 'a client with changing ports is one caller', true, via('192.0.7.1:1', '192.0.7.1:65535', '192.0.7.1')],
  [
    '10.0.0.0/8',
    'proxies whose addresses have ports are trusted',
    false,
    via('192.0.8.1:1, 10.0.0.2:4711', '192.0.8.2:1, 10.0.0.3:80, 10.0.0.2:4711', '192.0.8.3, 10.0.0.2'),
  ],
  [
    'fd00::/8, 10.0.0.1',
    'IPv6 proxies whose addresses have ports are trusted',
    false,
    via('192.0.9.1:1, [fd00::2]:4711', '192.0.9.2:1, [fd00::2]', '192.0.9.3, fd00::2'),
  ],
  [
    '10.0.0.1',
    'addresses that the client itself sends with ports are ignored',
    true,
    via('1.1.1.1:1, 192.0.10.1:80', '10.0.0.1:1, 192.0.10.1:81', '192.0.10.1'),
  ],
  ['1', 'without X-Forwarded-For, the proxy is the caller', true, from('10.0.0.1', '10.0.0.1', '10.0.0.1')],
  ['1', 'all invalid addresses share one quota', true, via('made', 'up', 'names')],
  [
    '2',
    'clients behind two proxies are different callers',
    false,
    via('192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.2', '9.9.9.9, 192.0.2.3, 10.0.0.2'),
  ],
  [
    '2',
    'addresses that the client itself sends in X-Forwarded-For are ignored, even with two proxies',
    true,
    via('1.1.1.1, 192.0.3.1, 10.0.0.2', '2.2.2.2, 192.0.3.1, 10.0.0.2', '192.0.3.1, 10.0.0.3'),
  ],
  [
    '10.0.0.1',
    'clients behind a proxy with this address are different callers',
    false,
    via('192.0.2.1', '192.0.2.2', '192.0.2.3'),
  ],
  [
    '10.0.0.0/8',
    'clients behind a proxy in this network are different callers',
    false,
    via('192.0.2.1', '192.0.2.2', '192.0.2.3'),
  ],
  [
    '10.0.0.0/8',
    'the last address outside this network is the caller',
    true,
    via('1.1.1.1, 192.0.3.1, 10.9.9.9', '2.2.2.2, 192.0.3.1', '192.0.3.1, 10.3.3.3, 10.4.4.4'),
  ],
  [
    '172.16.0.0/12, fd00::/8',
    'X-Forwarded-For from a sender outside these networks is ignored',
    true,
    via('192.0.2.1', '192.0.2.2', '192.0.2.3'),
  ],
  [
    '172.16.0.0/12, fd00::/8',
    'clients behind an IPv6 proxy are different callers',
    false,
    ['1', '2', '3'].map((n) => [`fd00::${n}`, { 'x-forwarded-for': `192.0.2.${n}` }]),
  ],
  ['0', 'X-Forwarded-For is ignored', true, via('192.0.2.1', '192.0.2.2', '192.0.2.3')],
];

test.each(ROWS)('TRUST_PROXY=%s: %s', async (TRUST_PROXY, _name, isShared, requests) => {
  const instance = instances.get(TRUST_PROXY) ?? (await gateway.another({ TRUST_PROXY }));
  instances.set(TRUST_PROXY, instance);
  const remaining: number[] = [];
  for (const [address, headers] of requests)
    remaining.push(
      (await ask(instance, 'GET /pets', { headers: { ...ANONYMOUS, ...headers }, from: address })).told.remaining,
    );
  expect(remaining).toEqual(isShared ? [59, 58, 57] : [59, 59, 59]);
});

test('requests with the same key share one quota, even if they come from different addresses', async () => {
  const { headers } = await gateway.createKey();
  for (const [address, remaining] of [
    ['192.0.2.1', 59],
    ['192.0.2.2', 58],
    ['2001:db8::1', 57],
  ] as const)
    expect((await ask(gateway, 'GET /pets', { headers, from: address })).told.remaining).toBe(remaining);
});

test('an address that a trusted proxy sends but that cannot be read is logged, at most once a second', async () => {
  const instance = await gateway.another({ TRUST_PROXY: '1' });
  const add = jest.spyOn(FailureLog.prototype, 'add');
  for (const [address, headers] of [...via('made', 'up', '192.0.2.1:80', 'x'.repeat(1000)), ...from('10.0.0.1')])
    await ask(instance, 'GET /pets', { headers: { ...ANONYMOUS, ...headers }, from: address });
  expect(add.mock.calls).toEqual([['"made"'], ['"up"'], [JSON.stringify('x'.repeat(100))]]);
  add.mockRestore();
  await instance.close();
});
