import { type Caller, type Net, type Options, type Scenario, until } from '../scenario';

/** A caller without a key, whose requests have these headers. */
const from = (name: string, headers: Record<string, string>): Caller => ({ name, headers });
const forwarded = (...lists: string[]): Caller[] => lists.map((list) => from(list, { 'x-forwarded-for': list }));

/** Sends a request as each caller, and records how much quota is left. This shows which callers share a quota. */
async function share(net: Net, title: string, callers: readonly Caller[]): Promise<void> {
  const lines: string[] = [];
  for (const as of callers) {
    const { headers } = await net.exchange('GET', '/pets', { as });
    lines.push(`${as.name}: ${headers['x-ratelimit-remaining']}`);
  }
  net.note(title, lines.join('\n'));
}

const OTHER_HEADERS: readonly Record<string, string>[] = [
  { 'x-real-ip': '192.0.2.1' },
  { forwarded: 'for=192.0.2.1' },
  { 'x-client-ip': '192.0.2.1' },
  { 'cf-connecting-ip': '192.0.2.1' },
  { 'true-client-ip': '192.0.2.1' },
];

const LIFT = 'mutation ($caller: String!) { liftBan(caller: $caller) }';
const READ = { query: '{ pets { totalCount } }' };

/** Bans a caller whose quota is one request per minute: the first request is accepted, and three rejections follow. */
async function ban(net: Net, as: Caller, times = 4): Promise<void> {
  for (let i = 0; i < times; i++) await net.exchange('GET', '/pets', { as });
}

async function bannedUntil(net: Net, id: string): Promise<string | null> {
  const { apiKey } = await net.prepare('query ($id: ID!) { apiKey(id: $id) { bannedUntil } }', { id });
  return (apiKey as { bannedUntil: string | null }).bannedUntil;
}

const one = (net: Net, name: string, more = {}) =>
  net.key(name, { plan: 'ENTERPRISE', perMinute: 1, perDay: 1000, ...more });

export const scenarios: Scenario[] = [
  {
    name: 'limits by address behind a proxy',
    once: true,
    settings: { BAN_AFTER: '3', BAN_SECONDS: '3600' },
    run: async (net) => {
      await share(net, 'clients behind the proxy are told apart', forwarded('192.0.2.1', '192.0.2.2', '192.0.2.1'));
      await share(
        net,
        'the last address that is not a proxy counts',
        forwarded(
          '192.0.2.3',
          '198.51.100.1, 192.0.2.3',
          '198.51.100.2, 198.51.100.3,192.0.2.3',
          '192.0.2.3, 127.0.0.1',
        ),
      );
      await share(
        net,
        'IPv6 by /64',
        forwarded(
          '2001:db8:1:2::1',
          '2001:db8:1:2::2',
          '2001:DB8:1:2:ffff:ffff:ffff:ffff',
          '2001:db8:1:3::1',
          '2001:db8:2:2::1',
        ),
      );
      await share(net, 'IPv4 in IPv6', forwarded('192.0.2.9', '::ffff:192.0.2.9', '::ffff:c000:209'));
      await share(net, 'what is no address', forwarded('made', 'up', '999.1.1.1', '192.0.2.1:80', 'unknown', ''));
      await share(
        net,
        'without the header, or with another one',
        [{}, ...OTHER_HEADERS].map((headers) => from(JSON.stringify(headers), headers)),
      );
      await net.rest('GET /pets', { as: net.anonymous(7) });
      await net.rest('GET /rate_limit', { as: net.anonymous(7) });
      const key = await net.key('travelling');
      for (const address of ['192.0.2.50', '2001:db8::50'])
        await net.rest('GET /pets', { as: key, headers: { 'x-forwarded-for': address }, title: `from ${address}` });

      const fields = Array.from({ length: 60 }, (_, i) => `f${i}: pets { __typename }`).join(' ');
      for (const address of ['192.0.2.60', '2001:db8:5:5::1']) {
        const as = from(address, { 'x-forwarded-for': address });
        await net.exchange('POST', '/graphql', { as, body: { query: `{ ${fields} }` } });
        await ban(net, as, 3);
        await net.rest('GET /pets', { as, title: 'banned' });
      }
      const neighbour = from('2001:db8:5:5::2', { 'x-forwarded-for': '2001:db8:5:5::2' });
      await net.rest('GET /pets', { as: neighbour, title: 'of the same /64' });
      await net.rest('GET /pets', { as: net.anonymous(61), title: 'another address' });
      await net.rest('GET /pets', { as: key, headers: { 'x-forwarded-for': '192.0.2.60' }, title: 'a key used there' });
      await net.rest('GET /livez', { as: neighbour });
      for (const caller of ['2001:db8:5:5:ffff::', '::ffff:192.0.2.60', '192.0.2.60'])
        await net.graphql(LIFT, { caller });
      await net.rest('GET /pets', { as: neighbour, title: 'not banned, but the quota stays used' });
      await net.rest('GET /rate_limit', { as: forwarded('192.0.2.60')[0] as Caller });
    },
  },
  {
    name: 'limits by address behind two hops',
    once: true,
    settings: { TRUST_PROXY: '2' },
    run: async (net) => {
      await share(
        net,
        'two hops',
        forwarded('192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.2', '9.9.9.9, 192.0.2.3, 10.0.0.2'),
      );
      await share(
        net,
        'spoofing behind two hops',
        forwarded('1.1.1.1, 192.0.2.4, 10.0.0.2', '2.2.2.2, 192.0.2.4, 10.0.0.2', '192.0.2.4, 10.0.0.3'),
      );
      await share(net, 'one hop', forwarded('192.0.2.5', '192.0.2.6'));
    },
  },
  {
    name: 'limits by address without a proxy',
    once: true,
    settings: { TRUST_PROXY: undefined },
    run: async (net) => {
      const headers = [{}, { 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '2001:db8::1' }, ...OTHER_HEADERS];
      await share(
        net,
        'no claim is believed',
        headers.map((each) => from(JSON.stringify(each), each)),
      );
    },
  },
  {
    name: 'limits banned',
    once: true,
    settings: { BAN_AFTER: '3', BAN_SECONDS: '3600', BAN_MAX_SECONDS: '7200' },
    run: async (net) => {
      const as = await one(net, 'banned');
      await net.rest('GET /pets', { as });
      for (let i = 0; i < 3; i++) await net.rest('GET /pets', { as });
      const requests: readonly [string, Options?][] = [
        ['GET /pets'],
        ['HEAD /pets'],
        ['POST /categories', { body: { name: 'never' } }],
        ['POST /graphql', { body: READ }],
        ['POST /graphql', { body: READ, headers: { accept: 'application/json' } }],
        ['POST /graphql', { body: READ, headers: { accept: 'application/graphql-response+json' } }],
        ['POST /graphql', { body: { query: 'mutation { createCategory(input: { name: "never" }) { id } }' } }],
        ['POST /graphql', { body: '{' }],
        ['GET /nothing'],
        ['PUT /pets'],
      ];
      for (const [line, options] of requests) await net.rest(line, { ...options, as });
      for (const path of ['/livez', '/readyz'])
        await net.rest(`GET ${path}`, { as: { ...as, name: 'the address of a banned key' } });
      await net.rest('GET /pets', { as: net.anonymous(1), title: 'the address is not banned' });
      const other = await one(net, 'other');
      await net.rest('GET /pets', { as: other, title: 'another key is not banned' });
      const socket = await net.socket({ as });
      await socket.record('of a banned key', 1);
      socket.close();
      await net.graphql('query ($id: ID!) { apiKey(id: $id) { bannedUntil usage(days: 1) { requests bans } } }', {
        id: as.id,
      });
      await net.graphql('{ apiKeys(search: "banned") { nodes { bannedUntil rateLimit { bannedUntil } } } }');
      await net.graphql(LIFT, { caller: as.id }, { as: await net.key('writer') });

      const lifted = await one(net, 'lifted');
      await ban(net, lifted);
      await net.rest('GET /pets', { as: lifted });
      await net.graphql(LIFT, { caller: lifted.id });
      await net.rest('GET /pets', { as: lifted, title: 'the quota stays used' });
      await net.graphql(LIFT, { caller: lifted.id });
      await net.graphql('{ apiKeys(search: "lifted") { nodes { bannedUntil } } }');
      await net.graphql('{ categories { totalCount } }');

      const daily = await net.key('daily', { plan: 'ENTERPRISE', perMinute: 10, perDay: 1 });
      await ban(net, daily);
      await net.rest('GET /pets', { as: daily, title: 'Retry-After covers the day, which is used up' });

      const refused = await one(net, 'refused');
      await ban(net, refused, 3);
      await net.graphql('{ a: pets { totalCount } b: pets { totalCount } }', undefined, {
        as: refused,
        title: 'the third refusal',
      });
      await net.rest('GET /pets', { as: refused });
    },
  },
  {
    name: 'limits bans that end',
    once: true,
    settings: { BAN_AFTER: '3', BAN_SECONDS: '2', BAN_MAX_SECONDS: '4' },
    run: async (net) => {
      const as = await one(net, 'banned thrice');
      const lengths: string[] = [];
      for (let i = 0; i < 3; i++) {
        await ban(net, as);
        const begun = Date.now();
        const end = Date.parse(String(await bannedUntil(net, as.id)));
        lengths.push(end - begun > 2000 ? 'more than two' : 'at most two');
        await until(async () => (await bannedUntil(net, as.id)) === null);
      }
      net.note('seconds of one ban after the other', lengths.join('\n'));
      const input = { perMinute: 100 };
      await net.prepare('mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }', {
        id: as.id,
        input,
      });
      const { status } = await net.exchange('GET', '/pets', { as });
      net.note('after the ban, with a larger quota', { status });
    },
  },
];
