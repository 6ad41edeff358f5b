import { type Gateway, startGateway } from '../helper/gateway';
import { toldBy } from '../helper/standing';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Request = [remoteAddress: string, headers?: Record<string, string>];
const forwarded = (value: string) => ({ 'x-forwarded-for': value });

/** What is left to each of these anonymous requests, sent one after the other to an instance of its own. */
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

/** Requests that share a quota find less and less left; each other one finds its own untouched. */
const SHARED = [59, 58, 57];
const APART = [59, 59, 59];

test.each<[string, Request[], number[]]>([
  ['one address', [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']], SHARED],
  ['several addresses', [['192.0.2.1'], ['192.0.2.2'], ['192.0.3.1']], APART],
  [
    'IPv4 as a socket for both families writes it',
    [['192.0.2.1'], ['::ffff:192.0.2.1'], ['::ffff:c000:201']],
    SHARED,
  ],
  [
    'one /64 of IPv6',
    [['2001:db8:1:2::1'], ['2001:db8:1:2::2'], ['2001:db8:1:2:ffff:ffff:ffff:ffff']],
    SHARED,
  ],
  ['several /64 of IPv6', [['2001:db8:1:1::1'], ['2001:db8:1:2::1'], ['2001:db8:2:1::1']], APART],
])('without a key, %s', async (_name, requests, expected) => {
  expect(await remaining({}, requests)).toEqual(expected);
});

describe('without TRUST_PROXY nothing that a client says of its address is believed', () => {
  test.each([
    'x-forwarded-for',
    'x-real-ip',
    'forwarded',
    'x-client-ip',
    'cf-connecting-ip',
    'true-client-ip',
  ])('%s', async (name) => {
    const says = (address: string): Request => [
      '203.0.113.7',
      { [name]: name === 'forwarded' ? `for=${address}` : address },
    ];
    expect(await remaining({}, ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(says))).toEqual(SHARED);
  });
});

describe('with TRUST_PROXY', () => {
  const from = (...lists: string[]): Request[] => lists.map((list) => ['10.0.0.1', forwarded(list)]);
  test.each<[string, string, Request[], number[]]>([
    ['1', 'the proxy tells clients apart', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    [
      '1',
      'what a client put in front gains it nothing',
      from('192.0.2.1', '198.51.100.1, 192.0.2.1', '198.51.100.2, 198.51.100.3,192.0.2.1'),
      SHARED,
    ],
    [
      '2',
      'two hops',
      from('192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.2', '9.9.9.9, 192.0.2.3, 10.0.0.2'),
      APART,
    ],
    [
      '2',
      'spoofing behind two hops',
      from('1.1.1.1, 192.0.2.1, 10.0.0.2', '2.2.2.2, 192.0.2.1, 10.0.0.2', '192.0.2.1, 10.0.0.3'),
      SHARED,
    ],
    ['10.0.0.1', 'its address', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    ['10.0.0.0/8', 'its network', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), APART],
    [
      '10.0.0.0/8',
      'the first address that is no proxy counts',
      from('1.1.1.1, 192.0.2.1, 10.9.9.9', '2.2.2.2, 192.0.2.1', '192.0.2.1, 10.3.3.3, 10.4.4.4'),
      SHARED,
    ],
    [
      '172.16.0.0/12, fd00::/8',
      'others are not believed',
      from('192.0.2.1', '192.0.2.2', '192.0.2.3'),
      SHARED,
    ],
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
      'an IPv6 client behind it shares its /64',
      from('2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2::3'),
      SHARED,
    ],
    ['1', 'without the header it is the caller itself', [['10.0.0.1'], ['10.0.0.1'], ['10.0.0.1']], SHARED],
    ['1', 'what is no address shares one quota', from('made', 'up', 'names'), SHARED],
    ['0', 'of no hops: as without', from('192.0.2.1', '192.0.2.2', '192.0.2.3'), SHARED],
  ])('%s: %s', async (TRUST_PROXY, _name, requests, expected) => {
    expect(await remaining({ TRUST_PROXY }, requests)).toEqual(expected);
  });
});

test('a key has its one quota wherever it is used', async () => {
  const { headers } = await gateway.createKey();
  expect(
    await remaining({}, [
      ['192.0.2.1', headers],
      ['192.0.2.2', headers],
      ['2001:db8::1', headers],
    ]),
  ).toEqual(SHARED);
});
