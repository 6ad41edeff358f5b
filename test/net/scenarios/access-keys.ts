import { type Caller, type Net, pause, type Scenario, until } from '../scenario';
import { ADMIN_KEY } from '../server';

const SECRET = 'A'.repeat(32);
const UNKNOWN = `ps_${'0'.repeat(12)}_${SECRET}`;

/** Headers in which a valid key is accepted. */
const ACCEPTED: readonly Record<string, string>[] = [
  { 'x-api-key': ADMIN_KEY },
  { authorization: `Bearer ${ADMIN_KEY}` },
  { authorization: `bEARER ${ADMIN_KEY}` },
  { authorization: `Bearer   ${ADMIN_KEY}` },
  { 'x-api-key': ADMIN_KEY, authorization: `Bearer ${UNKNOWN}` },
  { 'x-api-key': ADMIN_KEY, authorization: 'Basic eDp5' },
  { 'x-api-key': ` ${ADMIN_KEY} ` },
];

const REFUSED: readonly Record<string, string>[] = [
  { 'x-api-key': UNKNOWN },
  { 'x-api-key': `ps_netadmin0000_${SECRET}` },
  { 'x-api-key': ADMIN_KEY.replace(/n$/, 'N') },
  { 'x-api-key': '' },
  { 'x-api-key': 'netadmin0000' },
  { 'x-api-key': ADMIN_KEY.replace('ps_', 'sk_') },
  { 'x-api-key': ADMIN_KEY.toUpperCase() },
  { 'x-api-key': ADMIN_KEY.slice(0, -1) },
  { 'x-api-key': `${ADMIN_KEY}A` },
  { 'x-api-key': `${ADMIN_KEY}, ${ADMIN_KEY}` },
  { 'x-api-key': `Bearer ${ADMIN_KEY}` },
  { 'x-api-key': `ps_${'0'.repeat(12)}_${'A'.repeat(8000)}` },
  { 'x-api-key': "ps_' or 1=1 --_" },
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: `Bearer ${UNKNOWN}` },
  { authorization: `Bearer ${ADMIN_KEY} ${ADMIN_KEY}` },
  { authorization: `Basic ${Buffer.from(`netadmin0000:${ADMIN_KEY}`).toString('base64')}` },
  { authorization: `Token ${ADMIN_KEY}` },
  { authorization: ADMIN_KEY },
  { 'x-api-key': 'x', authorization: `Bearer ${ADMIN_KEY}` },
];

const FIELDS = 'id name plan scopes perMinute perDay expiresAt revokedAt createdAt bannedUntil';
const CREATE = `mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { ${FIELDS} lastUsedAt } } }`;
const UPDATE = `mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { ${FIELDS} } }`;
const REVOKE = 'mutation ($id: ID!) { revokeApiKey(id: $id) { id revokedAt } }';
const ROTATE =
  'mutation ($id: ID!, $graceSeconds: Int) { rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret apiKey { id name plan } } }';

const ENTERPRISE = { name: 'x', plan: 'ENTERPRISE', perMinute: 5, perDay: 50 };

const CREATED: readonly object[] = [
  { name: '  Acme  ' },
  { name: 'é'.repeat(255), plan: 'PRO', scopes: ['READ'] },
  {
    name: 'Agreed',
    plan: 'ENTERPRISE',
    scopes: ['ADMIN', 'READ', 'ADMIN'],
    perMinute: 1,
    perDay: 2147483647,
    expiresAt: '2090-01-01T01:00:00+01:00',
  },
  { name: 'Nobody may use it', plan: 'BUSINESS', expiresAt: '2020-02-29T00:00:00Z' },
  { name: 'null for optional fields', expiresAt: null, perMinute: null, perDay: null },
];

const NOT_CREATED: readonly object[] = [
  {},
  { name: '   ' },
  { name: null },
  { name: 5 },
  { name: 'é'.repeat(256) },
  { name: 'a\u0000b' },
  { name: 'a\ud800b' },
  { name: 'x', plan: 'GOLD' },
  { name: 'x', plan: 'pro' },
  { name: 'x', plan: null },
  { name: 'x', scopes: [] },
  { name: 'x', scopes: ['ROOT'] },
  { name: 'x', scopes: [null] },
  { name: 'x', scopes: null },
  { name: 'x', perMinute: 5 },
  { name: 'x', plan: 'PRO', perMinute: 5, perDay: 5 },
  { name: 'x', plan: 'ENTERPRISE' },
  { ...ENTERPRISE, perDay: undefined },
  { ...ENTERPRISE, perMinute: 0 },
  { ...ENTERPRISE, perMinute: -1, perDay: 0 },
  { ...ENTERPRISE, perMinute: 2147483648 },
  { ...ENTERPRISE, perMinute: 1.5 },
  { ...ENTERPRISE, perMinute: '5' },
  { name: 'x', expiresAt: 'tomorrow' },
  { name: 'x', expiresAt: '2090-02-30T00:00:00Z' },
  { name: 'x', expiresAt: '2090-02-03' },
  { name: 'x', secret: 'mine' },
  { name: '', scopes: [], perDay: 1 },
];

const UPDATES: readonly object[] = [
  {},
  { name: ' after ' },
  { scopes: ['READ'] },
  { expiresAt: null },
  { plan: 'ENTERPRISE' },
  { plan: 'ENTERPRISE', perMinute: 7, perDay: 70 },
  { perMinute: 8 },
  { perDay: null },
  { plan: 'PRO', perDay: 1 },
  { plan: 'PRO' },
  { perMinute: 8 },
  { name: null },
  { name: ' ' },
  { plan: null, scopes: null },
  { scopes: [] },
  { expiresAt: 'soon' },
  { id: 'zzzzzzzzzzzz' },
];

const MALFORMED_IDS = ['1', 'ABCDEFGHIJKL', 'abcdefghijk', 'abcdefghijklm', '', 'ps_abcdefghijkl', 5];

/** Records whether keys are accepted. */
async function accepted(net: Net, title: string, secrets: Record<string, string>): Promise<void> {
  const lines: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    const { status } = await net.exchange('GET', '/rate_limit', { as: { name, headers: { 'x-api-key': secret } } });
    lines.push(`${name}: ${status}`);
  }
  net.note(title, lines.join('\n'));
}

/** Waits until a key is rejected. Sends from a separate IP address, because rejections use up the quota of the address. */
function untilRefused(net: Net, secret: string): Promise<void> {
  const headers = { 'x-api-key': secret, 'x-forwarded-for': '198.51.100.1' };
  return until(async () => (await net.exchange('GET', '/rate_limit', { as: { name: '', headers } })).status === 401);
}

const caller = (name: string, secret: string): Caller => ({ name, headers: { 'x-api-key': secret } });

export const scenarios: Scenario[] = [
  {
    name: 'access forms of a key',
    once: true,
    run: async (net) => {
      net.hide(ADMIN_KEY, 'admin key');
      const nobody = net.anonymous(1);
      for (const headers of ACCEPTED) await net.rest('GET /pets', { as: { ...nobody, name: 'admin' }, headers });
      await net.rest('GET /pets', { as: nobody, title: 'no key' });
      for (const headers of REFUSED.slice(0, 4)) await net.rest('GET /pets', { as: net.anonymous(4), headers });
      const lines: string[] = [];
      for (const [i, headers] of REFUSED.entries()) {
        const as = net.anonymous(100 + i);
        const rest = await net.exchange('GET', '/pets', { as, headers });
        const body = { query: '{ viewer { plan } }' };
        const graphql = await net.exchange('POST', '/graphql', { as, headers, body });
        const codes = [rest.json.code, graphql.json.errors[0].extensions.code];
        const { 'www-authenticate': challenge, ratelimit } = graphql.headers;
        const left = /^"minute";r=\d+/.exec(String(ratelimit))?.[0];
        lines.push(
          `${JSON.stringify(headers).slice(0, 120)}\n  ${rest.status} ${graphql.status} ${codes} ${challenge} ${left}`,
        );
      }
      net.note('GET /pets and { viewer { plan } } with keys that are wrong', lines.join('\n'));
      await net.graphql('{ viewer { plan } }', undefined, { as: net.anonymous(2), headers: { 'x-api-key': 'x' } });
      await net.graphql('{ __typename }', undefined, { as: net.anonymous(2), headers: { 'x-api-key': 'x' } });
      await net.rest('GET /nothing', { as: net.anonymous(2), headers: { 'x-api-key': 'x' } });
      await net.rest('POST /pets', { as: net.anonymous(2), headers: { 'x-api-key': 'x' }, body: '{' });
      await net.rest('POST /graphql', { as: net.anonymous(2), headers: { 'x-api-key': 'x' }, body: '{' });
      await net.rest('GET /rate_limit', { as: net.anonymous(2), headers: { 'x-api-key': 'x' } });
      await net.rest('GET /usage', { as: net.anonymous(2), headers: { 'x-api-key': 'x' } });
      const needless = [
        '/livez',
        '/readyz',
        '/',
        '/docs',
        '/docs/limits',
        '/graphiql',
        '/openapi.json',
        '/schema.graphql',
      ];
      const statuses: string[] = [];
      for (const path of needless) {
        const { status } = await net.exchange('GET', path, { as: net.anonymous(3), headers: { 'x-api-key': 'x' } });
        statuses.push(`${path} ${status}`);
      }
      net.note('paths without authentication accept a wrong key', statuses.join('\n'));
      await net.rest('OPTIONS /pets', {
        as: net.anonymous(3),
        headers: { 'x-api-key': 'x', origin: 'https://shop.example', 'access-control-request-method': 'POST' },
      });
      await net.graphql('{ viewer { plan } }', undefined, {
        as: net.anonymous(3),
        title: 'with the key in a cookie and in the query, which are ignored',
        headers: { cookie: `x-api-key=${ADMIN_KEY}` },
      });
      await net.rest(`GET /pets?api_key=${ADMIN_KEY}`, { as: net.anonymous(3) });
    },
  },
  {
    name: 'access keys that end',
    run: async (net) => {
      const revoked = await net.key('revoked');
      await net.rest('GET /pets', { as: revoked });
      await net.prepare(REVOKE, { id: revoked.id });
      // Rejected requests count for the IP address, not for the key.
      const refused = (key: Caller): Caller => ({ ...key, name: `the address of ${key.name}` });
      await net.rest('GET /pets', { as: refused(revoked) });
      await net.graphql('{ viewer { plan } }', undefined, { as: refused(revoked) });
      const expired = await net.key('expired', { expiresAt: '2020-01-01T00:00:00Z' });
      await net.rest('GET /pets', { as: refused(expired) });
      const soon = new Date(Date.now() + 1500).toISOString();
      net.hide(soon, 'its expiry');
      const expiring = await net.key('expiring', { expiresAt: soon });
      await untilRefused(net, expiring.secret);
      await net.rest('GET /pets', { as: refused(expiring) });
      const prolong = { id: expiring.id, input: { expiresAt: '2090-01-01T00:00:00Z' } };
      await net.prepare(UPDATE, prolong);
      await net.rest('GET /pets', { as: expiring, title: 'after updateApiKey has prolonged it' });
      await net.prepare(UPDATE, { id: revoked.id, input: { name: 'back', expiresAt: null } });
      await net.rest('GET /pets', { as: refused(revoked), title: 'an update does not restore a revoked key' });
      await net.graphql(REVOKE, { id: revoked.id });
      await net.graphql('mutation { revokeApiKey(id: "zzzzzzzzzzzz") { id } }');
      for (const id of MALFORMED_IDS) await net.graphql(REVOKE, { id });

      const changing = await net.key('changing', { scopes: ['READ'] });
      await net.graphql('{ apiKeys { totalCount } }', undefined, { as: changing });
      await net.prepare(UPDATE, { id: changing.id, input: { plan: 'BUSINESS', scopes: ['ADMIN'] } });
      await net.graphql('{ viewer { plan scopes apiKey { scopes } } apiKey(id: "zzzzzzzzzzzz") { id } }', undefined, {
        as: { ...changing, name: 'changed' },
      });
    },
  },
  {
    name: 'access keys over GraphQL',
    run: async (net) => {
      for (const input of CREATED) await net.graphql(CREATE, { input });
      for (const input of NOT_CREATED) await net.graphql(CREATE, { input });
      await net.graphql('mutation { createApiKey(input: { name: "x", plan: "PRO" }) { secret } }');
      await net.graphql('mutation { createApiKey { secret } }');
      const key = await net.key('updated', { plan: 'PRO', expiresAt: '2090-01-01T00:00:00Z' });
      for (const input of UPDATES) await net.graphql(UPDATE, { id: key.id, input });
      for (const id of MALFORMED_IDS) await net.graphql(UPDATE, { id, input: {} });
      await net.graphql(UPDATE, { id: 'zzzzzzzzzzzz', input: { name: 'x' } });
      await net.graphql('mutation { updateApiKey(id: "zzzzzzzzzzzz") { id } }');
      const agreed = await net.key('updated at once', { plan: 'ENTERPRISE', perMinute: 1, perDay: 1 });
      await Promise.all(
        [{ name: 'together' }, { perMinute: 2 }, { perDay: 3 }, { scopes: ['READ'] }].map((input) =>
          net.prepare(UPDATE, { id: agreed.id, input }),
        ),
      );
      await net.graphql(`query ($id: ID!) { apiKey(id: $id) { ${FIELDS} } }`, { id: agreed.id });
    },
  },
  {
    name: 'access keys rotated',
    run: async (net) => {
      const one = await net.key('one', { plan: 'ENTERPRISE', perMinute: 50, perDay: 500 });
      await net.rest('GET /pets', { as: one });
      const rotated = await net.graphql(ROTATE, { id: one.id });
      const second: string = rotated.json.data.rotateApiKey.secret;
      await accepted(net, 'during the grace', { old: one.secret, new: second });
      await net.rest('GET /pets', { as: { ...one, headers: { 'x-api-key': second } }, title: 'one quota for both' });
      const third: string = (await net.graphql(ROTATE, { id: one.id, graceSeconds: 60 })).json.data.rotateApiKey.secret;
      await accepted(net, 'after a second rotation', { first: one.secret, second, third });
      const last: string = (await net.graphql(ROTATE, { id: one.id, graceSeconds: 0 })).json.data.rotateApiKey.secret;
      await accepted(net, 'after one without grace', { first: one.secret, second, third, last });
      await net.rest('GET /pets', { as: caller('old secret', third), headers: { 'x-forwarded-for': '203.0.113.9' } });
      await net.prepare(REVOKE, { id: one.id });
      await accepted(net, 'after the key was revoked', { last });
      await net.graphql(ROTATE, { id: one.id, graceSeconds: 60 });
      const short = await net.key('short');
      await net.graphql(ROTATE, { id: short.id, graceSeconds: 1 });
      await untilRefused(net, short.secret);
      await accepted(net, 'after a grace of a second', { old: short.secret });
      const whole = await net.key('grace');
      for (const graceSeconds of [-1, 2592001, 1.5, '60', null, 2592000])
        await net.graphql(ROTATE, { id: whole.id, graceSeconds });
      const { id } = await net.key('expired', { expiresAt: '2020-01-01T00:00:00Z' });
      await net.graphql(ROTATE, { id });
      await net.graphql(ROTATE, { id: 'zzzzzzzzzzzz' });
      await net.graphql(ROTATE, { id: '7' });
      const as = await net.key('who writes once', { scopes: ['WRITE'] });
      const headers = { 'idempotency-key': 'rotation' };
      await net.rest('POST /categories', { as, headers, body: { name: 'Dogs' } });
      const fresh: string = (await net.graphql(ROTATE, { id: as.id })).json.data.rotateApiKey.secret;
      await net.rest('POST /categories', {
        as: { ...as, headers: { 'x-api-key': fresh } },
        headers,
        body: { name: 'Dogs' },
        title: 'with the new secret',
      });
    },
  },
  {
    name: 'access keys found',
    run: async (net) => {
      const names = ['Acme', 'acme two', '100%_card\\ shop', '100 cards', 'Zoo', 'Ärger', 'revoked', 'expired'];
      const ids: string[] = [];
      for (const name of names) {
        // Keys are sorted by creation time, so each key must be created in a different millisecond.
        await pause(5);
        const { id } = await net.key(name, name === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {});
        ids.push(id);
      }
      await net.prepare(REVOKE, { id: ids[6] });
      const list = (args: string, variables = {}) =>
        net.graphql(
          `query { apiKeys${args} { totalCount nodes { name } pageInfo { hasNextPage hasPreviousPage } } }`,
          variables,
        );
      await net.graphql(
        `{ apiKeys(first: 3) { totalCount edges { cursor node { ${FIELDS} } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
      );
      for (const args of [
        '',
        '(search: "acme")',
        '(search: "ACME T")',
        '(search: "%_C")',
        '(search: "D\\\\ S")',
        '(search: "100")',
        '(search: "ä")',
        '(search: "")',
        '(search: "nothing like it")',
        '(search: "netadmin")',
        '(search: "admin0000")',
        '(isActive: true)',
        '(isActive: false)',
        '(isActive: null, search: null)',
        '(search: "acme", isActive: false)',
        '(first: 100)',
        '(first: 0)',
        '(first: -1)',
        '(first: 101)',
        '(after: "")',
        '(after: "x")',
        '(last: 1)',
      ])
        await list(args);
      const { categories } = (await net
        .prepare('mutation { createCategory(input: { name: "Dogs" }) { id } }')
        .then(() => net.prepare('{ categories { pageInfo { endCursor } } }'))) as {
        categories: { pageInfo: { endCursor: string } };
      };
      net.hide(categories.pageInfo.endCursor, 'cursor of categories');
      await list(`(after: "${categories.pageInfo.endCursor}")`);
      const pages: string[] = [];
      for (let after: string | null = null, page = 0; page < 9; page++) {
        const query =
          'query ($after: String) { apiKeys(first: 4, after: $after) { nodes { name } pageInfo { hasNextPage hasPreviousPage endCursor } } }';
        const { json } = await net.exchange('POST', '/graphql', { body: { query, variables: { after } } });
        const { nodes, pageInfo } = json.data.apiKeys;
        const { hasNextPage, hasPreviousPage, endCursor } = pageInfo;
        pages.push(`${hasPreviousPage} ${nodes.map(({ name }: { name: string }) => name)} ${hasNextPage}`);
        after = endCursor;
        if (!hasNextPage) break;
      }
      net.note('pages of four', pages.join('\n'));
      const one =
        'query ($id: ID!) { apiKey(id: $id) { name scopes rateLimit { plan cost windows { name limit remaining resetAt } bannedUntil } } }';
      await net.graphql(one, { id: ids[0] });
      await net.graphql(
        '{ apiKey(id: "netadmin0000") { id name plan scopes perMinute perDay expiresAt revokedAt bannedUntil } }',
      );
      await net.graphql(one, { id: 'zzzzzzzzzzzz' });
      for (const id of MALFORMED_IDS) await net.graphql(one, { id });
      for (const caller of ['zzzzzzzzzzzz', ids[0], '203.0.113.200', '2001:db8::1', '::ffff:192.0.2.1'])
        await net.graphql('mutation ($caller: String!) { liftBan(caller: $caller) }', { caller });
      for (const caller of ['', 'nobody', 'localhost', '192.0.2.0/24', '300.1.1.1', 'abcdefghijk', null])
        await net.graphql('mutation ($caller: String!) { liftBan(caller: $caller) }', { caller });
    },
  },
  {
    name: 'access viewer and usage',
    run: async (net) => {
      const viewer =
        '{ viewer { plan scopes apiKey { id name plan scopes perMinute perDay expiresAt revokedAt bannedUntil } rateLimit { plan cost windows { name limit remaining resetAt } bannedUntil } usage(days: 1) { date requests refused bans } } }';
      const reader = await net.key('a reader', { scopes: ['READ'] });
      const writer = await net.key('a writer', { scopes: ['WRITE'], plan: 'PRO' });
      const admin = await net.key('an admin', { scopes: ['ADMIN'], plan: 'BUSINESS' });
      const both = await net.key('both', { scopes: ['READ', 'WRITE'], plan: 'ENTERPRISE', perMinute: 5, perDay: 50 });
      const observer = await net.key('who waits', { scopes: ['ADMIN'] });
      for (const as of [reader, writer, admin, both, net.anonymous(1)]) await net.graphql(viewer, undefined, { as });
      await net.graphql(viewer);
      await net.rest('GET /pets', { as: both });
      await net.graphql('{ a: pets { totalCount } b: orders { totalCount } viewer { plan } }', undefined, { as: both });
      await net.rest('GET /nothing', { as: both });
      await net.graphql(
        '{ viewer { usage(days: 1) { requests refused bans } apiKey { usage(days: 1) { requests } } } }',
        undefined,
        {
          as: both,
        },
      );
      await net.graphql('{ a: pets { totalCount } b: orders { totalCount } }', undefined, { as: both });
      await net.rest('GET /usage?days=1', { as: both });
      await net.rest('HEAD /usage?days=1', { as: both });
      await net.rest('GET /usage?days=1', { as: net.anonymous(2) });
      for (const days of ['', '0', '401', '-1', '1.5', 'week', '1&days=2'])
        await net.rest(`GET /usage?days=${days}`, { as: reader });
      await net.rest('GET /usage?limit=1', { as: reader });
      const lengths: string[] = [];
      for (const path of ['/usage', '/usage?days=2', '/usage?days=400']) {
        const { json } = await net.exchange('GET', path, { as: both });
        const dates: string[] = json.map(({ date }: { date: string }) => date);
        const areInOrder = dates.every(
          (date, i) => !i || Date.parse(date) - Date.parse(dates[i - 1] ?? '') === 86_400_000,
        );
        const isToday = dates.at(-1) === new Date().toISOString().slice(0, 10);
        lengths.push(`${path}: ${dates.length} days, each after the one before: ${areInOrder}, today last: ${isToday}`);
      }
      net.note('days of usage', lengths.join('\n'));
      await net.rest('GET /pets', { as: net.anonymous(3) });
      await net.graphql(
        'query ($id: ID!) { apiKey(id: $id) { usage(days: 1) { date requests refused bans } } }',
        { id: both.id },
        { as: admin },
      );
      await net.graphql(
        '{ apiKeys(search: "both") { nodes { name usage(days: 1) { requests refused bans } } } }',
        undefined,
        { as: admin },
      );
      await net.graphql('{ topCallers { apiKey { name } requests refused bans } }', undefined, { as: admin });
      await net.graphql('{ topCallers(days: 400, first: 1) { apiKey { name } requests } }', undefined, { as: admin });
      for (const field of [
        'viewer { usage(days: 0) { requests } }',
        'viewer { apiKey { usage(days: 401) { requests } } }',
        'topCallers(days: 401) { requests }',
        'topCallers(days: 0) { requests }',
        'topCallers(first: 0) { requests }',
        'topCallers(first: 101) { requests }',
        'apiKeys { nodes { usage(days: -1) { requests } } }',
      ])
        await net.graphql(`{ ${field} }`, undefined, { as: admin });
      await net.graphql('{ topCallers { requests } }', undefined, { as: reader });
      await net.rest('GET /rate_limit', { as: both });
      await net.rest('GET /rate_limit', { as: net.anonymous(4) });
      // Waits for a later millisecond, so that `resetAt` and the ETag differ from those of the previous request.
      await pause(2);
      await net.rest('HEAD /rate_limit', { as: net.anonymous(4) });
      await net.rest('GET /rate_limit?x=1', { as: net.anonymous(4) });
      await net.rest('PUT /rate_limit', { as: net.anonymous(4) });
      const used = { query: '{ apiKeys(search: "both") { nodes { lastUsedAt } } }' };
      await until(async () => {
        const { json } = await net.exchange('POST', '/graphql', { as: observer, body: used });
        return json.data.apiKeys.nodes[0].lastUsedAt !== null;
      });
      await net.graphql('{ apiKeys(search: "both") { nodes { lastUsedAt } } }');
    },
  },
];
