import type { Answer, Caller, Net, Options, Scenario } from '../scenario';

const GRAPHQL = 'POST /graphql';

/** An operation with this number of counted root fields. */
const fields = (count: number) =>
  `{ ${Array.from({ length: count }, (_, i) => `f${i}: pets { __typename }`).join(' ')} }`;

const TWO = 'fragment two on Query { pets { totalCount } orders { totalCount } }';

/** Operations whose cost is recorded. */
const COSTS: readonly [string, object?][] = [
  ['query named { pets { totalCount } }'],
  ['{ a: pets { totalCount } b: pets { totalCount } }'],
  ['{ pets { totalCount } orders { totalCount } }'],
  ['{ pets { totalCount } pets { nodes { id } } }'],
  ['{ pets { nodes { category { pets { nodes { inventory { quantity } } } } } } }'],
  [`{ ...two } ${TWO}`],
  [`{ ...two ...two pets { totalCount } } ${TWO}`],
  [`{ ... { ... on Query { a: pets { totalCount } } } ...two } ${TWO}`],
  ['{ pets { totalCount } __typename viewer { plan } rateLimit { cost } }'],
  ['{ __typename }'],
  ['{ viewer { plan rateLimit { cost } } rateLimit { cost } __schema { queryType { name } } }'],
  ['{ pets { totalCount } orders @skip(if: true) { totalCount } }'],
  ['{ pets @skip(if: true) { totalCount } }'],
  ['query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: false }],
  ['query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: true }],
  [`query ($yes: Boolean = true) { ...two @include(if: $yes) } ${TWO}`],
  [`query ($yes: Boolean = true) { ...two @include(if: $yes) } ${TWO}`, { yes: false }],
  ['mutation { a: deletePet(id: 91) { id } b: deletePet(id: 92) { id } }'],
];

const JSON_TYPE = { 'content-type': 'application/json' };
const LARGE = JSON.stringify({ name: 'x'.repeat(101 * 1024) });
const PREFLIGHT = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
const query = (text: string, variables?: object): Options => ({ body: { query: text, variables } });

/** Requests that fail before they reach a counted field. */
const FAILING: readonly [string, string, Options?][] = [
  ['bad JSON', 'POST /pets', { body: '{' }],
  ['bad JSON to GraphQL', GRAPHQL, { body: '{' }],
  ['an empty body', 'POST /pets', { headers: JSON_TYPE }],
  ['a document that does not parse', GRAPHQL, query('{')],
  ['a document that is not valid', GRAPHQL, query('{ nothing }')],
  ['a free query that is not valid', GRAPHQL, query('{ viewer { nothing } }')],
  ['an unknown operation name', GRAPHQL, { body: { query: '{ __typename }', operationName: 'other' } }],
  ['invalid variables', GRAPHQL, query('query ($id: ID!) { pet(id: $id) { id } }', { id: 'x' })],
  [
    'invalid variables for two fields',
    GRAPHQL,
    query('query ($id: ID!) { a: pet(id: $id) { id } b: pet(id: $id) { id } }', { id: [] }),
  ],
  ['a missing variable', GRAPHQL, query('query ($id: ID!) { pet(id: $id) { id } }')],
  ['a list of operations', GRAPHQL, { body: [{ query: '{ pets { totalCount } }' }] }],
  [
    'what another site can send',
    'GET /graphql?query=%7Bpets%7BtotalCount%7D%7D',
    { headers: { 'sec-fetch-site': 'cross-site' } },
  ],
  ['bad input', 'GET /pets?limit=0'],
  ['an unknown parameter', 'GET /pets?colour=red'],
  ['a path that is not an id', 'GET /pets/first'],
  ['a URL that cannot be decoded', 'GET /%zz'],
  ['a missing scope', GRAPHQL, query('{ apiKeys { totalCount } }')],
  ['a missing scope, beside allowed fields', GRAPHQL, query('{ a: pet(id: 1) { id } apiKeys { totalCount } }')],
  ['an unknown path', 'GET /nothing'],
  ['an unknown path below the docs', 'GET /docs/nothing'],
  ['a method that is not allowed', 'PUT /pets'],
  ['a mutation by GET', 'GET /graphql?query=mutation%7BdeletePet(id:1)%7Bid%7D%7D', { headers: JSON_TYPE }],
  ['an Accept that cannot be met', 'GET /pets', { headers: { accept: 'image/png' } }],
  ['a body that is too large', 'POST /categories', { body: LARGE }],
  ['a body that is too large for GraphQL', GRAPHQL, { body: LARGE }],
  ['an unsupported content type', 'POST /pets', { body: 'a,b', headers: { 'content-type': 'text/csv' } }],
  ['a pet that is not there', 'GET /pets/999'],
  ['an unknown category', 'POST /pets', { body: { name: 'Rex', categoryId: 999 } }],
];

/** Requests that use no quota. */
const FREE: readonly [string, Options?][] = [
  [GRAPHQL, query('{ __typename }')],
  [GRAPHQL, query('{ __schema { queryType { name } } }')],
  [GRAPHQL, query('{ rateLimit { cost } }')],
  [GRAPHQL, query('{ viewer { plan usage(days: 1) { requests } } }')],
  ['GET /graphql?query=%7B__typename%7D', { headers: JSON_TYPE }],
  ['GET /graphql', { headers: { accept: 'text/html' } }],
  ['OPTIONS /graphql', { headers: PREFLIGHT }],
  ['OPTIONS /pets', { headers: PREFLIGHT }],
  ['OPTIONS /pets'],
  ['GET /rate_limit'],
  ['HEAD /rate_limit'],
  ['GET /usage'],
  ['GET /openapi.json'],
  ['GET /openapi.yaml'],
  ['GET /schema.graphql'],
  ['GET /docs'],
  ['GET /docs/limits'],
  ['GET /'],
  ['GET /graphiql'],
  ['GET /admin'],
  ['GET /favicon.ico'],
  ['GET /livez'],
  ['GET /readyz'],
];

function ask(net: Net, line: string, options: Options = {}): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ');
  return net.exchange(method, path, options);
}

function outcome({ status, json }: Answer): string {
  const code = json?.errors?.[0].extensions.code ?? json?.code;
  return code ? `${status} ${code}` : String(status);
}

/** The remaining requests of the day, not of the minute, because a new minute can begin meanwhile on a slow machine. */
async function left(net: Net, as: Caller): Promise<number> {
  const { json } = await ask(net, GRAPHQL, { as, ...query('{ rateLimit { windows { remaining } } }') });
  return json.data.rateLimit.windows[1].remaining;
}

const agreed = (net: Net, name: string, perMinute: number, perDay: number, more = {}) =>
  net.key(name, { plan: 'ENTERPRISE', perMinute, perDay, ...more });

export const scenarios: Scenario[] = [
  {
    name: 'limits counted down',
    once: true,
    run: async (net) => {
      const rest = await agreed(net, 'rest', 3, 5);
      for (let i = 0; i < 5; i++) await net.rest('GET /pets', { as: rest });
      await net.rest('HEAD /pets', { as: rest });
      await net.rest('GET /nothing', { as: rest });
      await net.rest('POST /categories', { as: rest, body: { name: 'never' } });
      await net.rest('GET /rate_limit', { as: rest });

      const graphql = await agreed(net, 'graphql', 3, 5);
      await net.graphql('{ rateLimit { plan cost windows { name limit remaining } } pets { totalCount } }', undefined, {
        as: graphql,
      });
      const create = (name: string) => `${name}: createCategory(input: { name: "${name}" }) { id }`;
      await net.graphql(`mutation { ${create('a')} ${create('b')} ${create('c')} }`, undefined, {
        as: graphql,
        title: 'three fields, two left: none of them runs',
      });
      await net.graphql(`mutation { ${create('d')} ${create('e')} }`, undefined, { as: graphql });
      await net.graphql('{ pets { totalCount } }', undefined, { as: graphql });
      for (const accept of ['application/json', 'application/graphql-response+json'])
        await net.graphql('{ pets { totalCount } }', undefined, { as: graphql, headers: { accept } });
      await net.rest('GET /graphql?query=%7Bpets%7BtotalCount%7D%7D', { as: graphql, headers: JSON_TYPE });
      await net.rest('POST /graphql/stream', {
        as: graphql,
        body: { query: 'subscription { petChanged { kind } }' },
        headers: { accept: 'text/event-stream' },
      });
      await net.graphql('{ viewer { rateLimit { windows { name remaining } } } }', undefined, { as: graphql });
      await net.graphql('{ categories { nodes { name } } }');

      const complex = await agreed(net, 'complex', 3, 50);
      await net.graphql(fields(4), undefined, { as: complex, title: 'more than a minute allows' });
      await net.graphql(fields(2), undefined, { as: complex });
      await net.graphql(fields(4), undefined, { as: complex, title: 'with nothing left' });
      const daily = await agreed(net, 'daily', 100, 3);
      await net.graphql(fields(4), undefined, { as: daily, title: 'more than a day allows' });
      await net.rest('GET /pets', { as: daily });
      await net.rest('GET /pets', { as: daily });
      await net.rest('GET /pets', { as: daily });
      await net.rest('GET /rate_limit', { as: daily });

      const known = await agreed(net, 'known', 5, 10);
      const { headers } = await net.rest('GET /categories/1', { as: known });
      await net.rest('GET /categories/1', { as: known, headers: { 'if-none-match': String(headers.etag) } });
      await net.rest('HEAD /categories/1', { as: known });
      await net.rest('DELETE /categories/1', { as: known });

      const changed = await agreed(net, 'changed', 1, 10);
      await net.rest('GET /pets', { as: changed });
      await net.rest('GET /pets', { as: changed });
      const change = (input: object) =>
        net.prepare('mutation ($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }', {
          id: changed.id,
          input,
        });
      await change({ plan: 'PRO' });
      await net.rest('GET /pets', {
        as: { ...changed, name: 'PRO' },
        title: 'a plan change does not restore used quota',
      });
      await change({ plan: 'ENTERPRISE', perMinute: 1, perDay: 10 });
      await net.rest('GET /pets', { as: { ...changed, name: 'ENTERPRISE' } });
    },
  },
  {
    name: 'limits what counts',
    once: true,
    settings: { BAN_AFTER: '1000' },
    run: async (net) => {
      await net.shop();
      const as = await agreed(net, 'costs', 10_000, 100_000, { scopes: ['WRITE'] });
      const costs: string[] = [];
      for (const [text, variables] of COSTS) {
        const { json, headers } = await ask(net, GRAPHQL, { as, ...query(text, variables) });
        const remaining = /"day";r=(\d+)/.exec(String(headers.ratelimit))?.[1];
        costs.push(`${json.extensions.cost.operation}, left ${remaining}: ${text} ${JSON.stringify(variables) ?? ''}`);
      }
      net.note('how many requests an operation is', costs.join('\n'));
      await net.rest('POST /graphql', {
        as,
        body: { query: `query a { pets { totalCount } } query b ${fields(50)}`, operationName: 'a' },
        title: 'the selected operation counts',
      });
      await net.graphql(
        '{ rateLimit { plan cost bannedUntil windows { name limit remaining resetAt } } a: pet(id: 1) { id } b: pet(id: 1) { id } }',
        undefined,
        { as },
      );

      const failing = await agreed(net, 'failing', 1000, 10_000);
      const used = await agreed(net, 'used up', 100, 1);
      await ask(net, 'GET /pets', { as: used });
      const lines: string[] = [];
      for (const [title, line, options] of FAILING) {
        const before = await left(net, failing);
        const first = await ask(net, line, { ...options, as: failing });
        const taken = before - (await left(net, failing));
        const second = await ask(net, line, { ...options, as: used });
        lines.push(`${title}: ${outcome(first)}, takes ${taken}; with none left ${outcome(second)}`);
      }
      net.note('requests that fail', lines.join('\n'));
    },
  },
  {
    name: 'limits free of quota',
    once: true,
    settings: { BAN_AFTER: '1000' },
    run: async (net) => {
      const as = await agreed(net, 'curious', 100, 1000);
      const used = await agreed(net, 'used up', 100, 3);
      await ask(net, GRAPHQL, { as: used, ...query(fields(3)) });
      const lines: string[] = [];
      for (const [line, options] of FREE) {
        const first = outcome(await ask(net, line, { ...options, as }));
        const second = outcome(await ask(net, line, { ...options, as: used }));
        const text = options?.body ? JSON.stringify(options.body) : '';
        lines.push(`${line} ${text}: ${first}, left ${await left(net, as)}; with none left ${second}`);
      }
      net.note('free requests', lines.join('\n'));
      await net.rest('GET /readyz', { as: { ...used, name: 'the address of a key that is used up' } });
      await net.rest('OPTIONS /pets', { as: used, headers: PREFLIGHT });

      const few = await agreed(net, 'few', 2, 1000);
      const statuses: string[] = [];
      for (let i = 0; i < 22; i++) statuses.push(outcome(await ask(net, 'GET /rate_limit', { as: few })));
      net.note('22 free requests with two a minute', statuses.join('\n'));
      await net.rest('GET /rate_limit', { as: few });
      await net.graphql('{ viewer { plan } }', undefined, { as: few });
      await net.rest('GET /openapi.json', { as: few });
      await net.rest('GET /livez', { as: { ...few, name: 'the address of few' } });
      await net.rest('GET /pets', { as: few, title: 'the quota of counted requests is separate' });
      await net.graphql('{ pets { totalCount } }', undefined, { as: few });
    },
  },
];
