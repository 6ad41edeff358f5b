import { type Gateway, startGateway } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Request = [remoteAddress: string, headers?: Record<string, string>];
const forwarded = (value: string) => ({ 'x-forwarded-for': value });

/** The quota left after each of these anonymous requests, sent in turn to a new instance. */
async function remaining(environment: Record<string, string>, requests: Request[]): Promise<number[]> {
  const instance = await gateway.another(environment);
  const told: number[] = [];
  for (const [remoteAddress, headers = {}] of requests) {
    const response = await instance.server.inject({ url: '/pets', remoteAddress, headers });
    told.push(toldBy(response.headers).remaining);
  }
  await instance.close();
  return told;
}

/** Requests that share a quota use it up together; any other finds its own untouched. */
const SHARED = [59, 58, 57];
const APART = [59, 59, 59];

test.each<[string, Request[], number[]]>([
  ['one address is one caller', [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']], SHARED],
  ['several addresses are several callers', [['192.0.2.1'], ['192.0.2.2'], ['192.0.3.1']], APART],
  [
    'an IPv4 address is the same caller on a dual-stack socket',
    [['192.0.2.1'], ['::ffff:192.0.2.1'], ['::ffff:c000:201']],
    SHARED,
  ],
  [
    'an IPv6 /64 is one caller',
    [['2001:db8:1:2::1'], ['2001:db8:1:2::2'], ['2001:db8:1:2:ffff:ffff:ffff:ffff']],
    SHARED,
  ],
  ['several IPv6 /64s are several callers', [['2001:db8:1:1::1'], ['2001:db8:1:2::1'], ['2001:db8:2:1::1']], APART],
])('without a key, %s', async (_name, requests, expected) => {
  expect(await remaining({}, requests)).toEqual(expected);
});

describe('without TRUST_PROXY no claim of a client about its address is trusted', () => {
  test.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'])(
    '%s',
    async (name) => {
      const says = (address: string): Request => [
        '203.0.113.7',
        { [name]: name === 'forwarded' ? `for=${address}` : address },
      ];
      expect(await remaining({}, ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(says))).toEqual(SHARED);
    },
  );
});

describe('with TRUST_PROXY', () => {
  const from = (...lists: string[]): Request[] => lists.map((list) => ['10.0.0.1', forwarded(list)]);
  test.each<[string, string, Request[], number[]]>([
    ['1', 'clients behind the proxy are told apart', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    [
      '1',
      'addresses that a client prepends are ignored',
      from('192.0.2.1', '198.51.100.1, 192.0.2.1', '198.51.100.2, 198.51.100.3,192.0.2.1'),
      SHARED,
    ],
    ['2', 'two hops', from('192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.2', '9.9.9.9, 192.0.2.3, 10.0.0.2'), APART],
    [
      '2',
      'spoofing behind two hops',
      from('1.1.1.1, 192.0.2.1, 10.0.0.2', '2.2.2.2, 192.0.2.1, 10.0.0.2', '192.0.2.1, 10.0.0.3'),
      SHARED,
    ],
    ['10.0.0.1', 'the address of the proxy', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    ['10.0.0.0/8', 'the network of the proxy', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    [
      '10.0.0.0/8',
      'the last address that is not a proxy counts',
      from('1.1.1.1, 192.0.2.1, 10.9.9.9', '2.2.2.2, 192.0.2.1', '192.0.2.1, 10.3.3.3, 10.4.4.4'),
      SHARED,
    ],
    ['172.16.0.0/12, fd00::/8', 'other senders are not trusted', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), SHARED],
    [
      'fd00::/8',
      'an IPv6 proxy',
      [
        ['fd00::1', forwarded('192.0.2.1')],
        ['fd00::1', forwarded('192.0.2.2')],
        ['fd00::2', forwarded('192.0.2.3')],
      ],
      APART,
    ],
    [
      '1',
      'IPv6 clients of one /64 share a quota',
      from('2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2::3'),
      SHARED,
    ],
    ['1', 'without the header the proxy is the caller', [['10.0.0.1'], ['10.0.0.1'], ['10.0.0.1']], SHARED],
    ['1', 'invalid addresses share one quota', from('made', 'up', 'names'), SHARED],
    ['0', 'no hops: as without TRUST_PROXY', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), SHARED],
  ])('%s: %s', async (TRUST_PROXY, _name, requests, expected) => {
    expect(await remaining({ TRUST_PROXY }, requests)).toEqual(expected);
  });
});

test('a key has one quota wherever it is used', async () => {
  const { headers } = await gateway.createKey();
  expect(
    await remaining({}, [
      ['192.0.2.1', headers],
      ['192.0.2.2', headers],
      ['2001:db8::1', headers],
    ]),
  ).toEqual(SHARED);
});
