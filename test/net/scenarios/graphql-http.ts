import { createHash } from 'node:crypto';
import type { Net, Scenario } from '../scenario';

const NAME = '{ pet(id: 1) { name } }';
const BY_ID = 'query Pet($id: ID!) { pet(id: $id) { id name } }';
const RENAME = 'mutation { updatePet(id: 1, input: { name: "Renamed" }) { name } }';

function get(parameters: Record<string, string>): string {
  return `GET /graphql?${new URLSearchParams(parameters)}`;
}

function hash(query: string): string {
  return createHash('sha256').update(query).digest('hex');
}

/** The extension of automatic persisted queries, which identifies a document by its hash. */
function persisted(query: string, version = 1): object {
  return { persistedQuery: { version, sha256Hash: hash(query) } };
}

type Headers = Record<string, string | undefined>;

const GETS: [title: string, parameters: Record<string, string>, headers?: Headers][] = [
  ['a query', { query: NAME }],
  ['variables', { query: BY_ID, variables: '{"id":"2"}' }],
  ['an operation by its name', { query: 'query A { __typename } query B { pet(id: 2) { name } }', operationName: 'B' }],
  ['an empty operationName', { query: NAME, operationName: '' }],
  ['two operations', { query: 'query A { __typename } query B { __typename }' }],
  ['variables that are no JSON', { query: BY_ID, variables: '{id:1}' }],
  ['variables that are no object', { query: BY_ID, variables: '[1]' }],
  ['wrong variables', { query: BY_ID, variables: '{"id":"x"}' }],
  ['extensions', { query: NAME, extensions: '{"a":1}' }],
  ['extensions that are no JSON', { query: NAME, extensions: 'x' }],
  ['no query', { variables: '{}' }],
  ['an empty query', { query: '' }],
  ['an invalid query', { query: '{ pet(id: 1) { nam } }' }],
  ['an unparsable query', { query: '{' }],
  ['other parameters', { query: NAME, other: '1' }],
  ['a mutation', { query: RENAME }],
  [
    'the mutation among two operations',
    { query: `query Q { __typename } ${RENAME.replace('mutation', 'mutation M')}`, operationName: 'M' },
  ],
  [
    'the query among two operations',
    { query: `query Q { __typename } ${RENAME.replace('mutation', 'mutation M')}`, operationName: 'Q' },
  ],
  ['a subscription', { query: 'subscription { petChanged { kind } }' }],
  ['introspection', { query: '{ __schema { queryType { name } } }' }],
  ['from a page of another site', { query: NAME }, { 'sec-fetch-site': 'cross-site' }],
  ['from a page of the same site', { query: NAME }, { 'sec-fetch-site': 'same-origin' }],
  ['with an Origin', { query: NAME }, { origin: 'https://example.com' }],
  ['with a Referer', { query: NAME }, { referer: 'https://example.com/' }],
  ['with a cookie', { query: NAME }, { cookie: 'a=b' }],
  [
    'from another site, with Apollo-Require-Preflight',
    { query: NAME },
    { 'sec-fetch-site': 'cross-site', 'apollo-require-preflight': 'true' },
  ],
  [
    'from another site, with X-Apollo-Operation-Name',
    { query: NAME },
    { 'sec-fetch-site': 'cross-site', 'x-apollo-operation-name': 'A' },
  ],
  [
    'from another site, with Content-Type: application/json',
    { query: NAME },
    { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' },
  ],
  [
    'from another site, with Content-Type: text/plain',
    { query: NAME },
    { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' },
  ],
  ['for a page', { query: NAME }, { accept: 'text/html' }],
  ['for GraphQL', { query: NAME }, { accept: 'application/graphql-response+json' }],
  ['for something else', { query: NAME }, { accept: 'image/png' }],
];

const BODIES: [title: string, body: unknown, headers?: Headers][] = [
  ['empty', ''],
  ['no JSON', '{"query"'],
  ['white space', '  '],
  ['null', 'null'],
  ['a text', '"{ __typename }"'],
  ['a number', '1'],
  ['an empty object', {}],
  ['an empty batch', []],
  ['a batch of one', [{ query: NAME }]],
  ['a batch of two', [{ query: NAME }, { query: NAME }]],
  ['query is null', { query: null }],
  ['query is a number', { query: 1 }],
  ['query is an object', { query: {} }],
  ['variables is null', { query: NAME, variables: null }],
  ['variables is a list', { query: NAME, variables: [] }],
  ['variables is a text', { query: BY_ID, variables: '{"id":1}' }],
  ['operationName is null', { query: NAME, operationName: null }],
  ['operationName is a number', { query: NAME, operationName: 1 }],
  ['extensions is null', { query: NAME, extensions: null }],
  ['extensions is a text', { query: NAME, extensions: 'x' }],
  ['extensions is a list', { query: NAME, extensions: [] }],
  ['extensions of a client', { query: NAME, extensions: { clientLibrary: { name: 'x' } } }],
  ['other members', { query: NAME, id: 1, key: 'x' }],
  ['a member twice', `{"query":"{","query":${JSON.stringify(NAME)}}`],
  ['a byte order mark', `\ufeff{"query":"{ __typename }"}`],
  ['escapes in the query', `{"query":"{ pet(id: \\u0031) { name } }"}`],
  ['a member __proto__', '{"query":"{ __typename }","__proto__":{"a":1},"variables":{"__proto__":{"b":2}}}'],
  ['text/plain', { query: NAME }, { 'content-type': 'text/plain' }],
  ['a form', 'query=%7B__typename%7D', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['multipart/form-data', 'x', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['application/graphql', NAME, { 'content-type': 'application/graphql' }],
  ['application/graphql-response+json', { query: NAME }, { 'content-type': 'application/graphql-response+json' }],
  ['no content type', { query: NAME }, { 'content-type': undefined }],
  ['a content type in capitals', { query: NAME }, { 'content-type': 'Application/JSON' }],
  ['a charset', { query: NAME }, { 'content-type': 'application/json; charset=utf-8' }],
  ['another charset', { query: NAME }, { 'content-type': 'application/json; charset=utf-16' }],
  ['an invalid content type', { query: NAME }, { 'content-type': 'x' }],
  ['a compressed body', { query: NAME }, { 'content-encoding': 'gzip' }],
  ['a body over 100 KiB', { query: `{ pet(id: 1) { name } } #${'x'.repeat(102_400)}` }],
];

const ACCEPTS = [
  undefined,
  '*/*',
  'application/*',
  'application/json',
  'application/json; charset=utf-8',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json;q=0.9',
  'application/json, application/graphql-response+json',
  'application/json;q=0.5, application/graphql-response+json;q=0.4',
  'application/json;q=0, */*',
  'application/json;q=0',
  'text/html',
  'text/html, application/json;q=0.9',
  'text/*',
  'image/png, */*;q=0.1',
  'nonsense',
  '',
];

/** A request for each kind of failure. Each request is sent with the Accept headers of several clients. */
const FAILING: [title: string, body: object][] = [
  ['a parse error', { query: '{' }],
  ['a validation error', { query: '{ nothing }' }],
  ['wrong variables', { query: BY_ID, variables: { id: 'x' } }],
  ['an unknown operationName', { query: NAME, operationName: 'x' }],
  [
    'too costly',
    { query: '{ categories(first: 100) { nodes { pets(first: 100) { nodes { orders { totalCount } } } } } }' },
  ],
  ['a malformed request', { query: 1 }],
  ['a failing field', { query: 'mutation { deletePet(id: 99) { id } }' }],
  ['a failing non-null field', { query: '{ pets(first: 0) { totalCount } }' }],
];

async function eachMethod(net: Net): Promise<void> {
  for (const method of ['PUT', 'PATCH', 'DELETE']) await net.rest(`${method} /graphql`, { body: { query: NAME } });
  await net.rest('OPTIONS /graphql');
  await net.rest('OPTIONS /graphql', {
    headers: {
      origin: 'https://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });
  await net.rest(get({ query: NAME }).replace('GET', 'HEAD'));
  await net.rest(get({ query: '{' }).replace('GET', 'HEAD'));
  await net.rest('GET /graphql');
  await net.rest('GET /graphql', {
    headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
    title: 'a browser',
  });
  await net.rest('HEAD /graphql', { headers: { accept: 'text/html' } });
  await net.rest('POST /graphql/', { body: { query: NAME } });
  await net.rest(`POST /graphql?query=${encodeURIComponent(NAME)}`, {
    body: { query: '{ __typename }' },
    title: 'a query string too',
  });
  await net.rest(`POST /graphql?query=${encodeURIComponent(NAME)}`, { body: {}, title: 'a query string alone' });
}

export const scenarios: Scenario[] = [
  {
    name: 'graphql by get',
    once: true,
    run: async (net) => {
      await net.shop();
      for (const [title, parameters, headers] of GETS) await net.rest(get(parameters), { headers, title });
      await eachMethod(net);
      await net.graphql(NAME);
    },
  },
  {
    name: 'graphql bodies and media types',
    once: true,
    run: async (net) => {
      await net.shop();
      for (const [title, body, headers] of BODIES) await net.rest('POST /graphql', { body, headers, title });
      for (const accept of ACCEPTS) await net.rest('POST /graphql', { body: { query: NAME }, headers: { accept } });
      for (const [title, body] of FAILING) {
        for (const accept of ['application/json', 'application/graphql-response+json', '*/*'])
          await net.rest('POST /graphql', { body, headers: { accept }, title });
      }
      const wrongKey = {
        name: 'a wrong key',
        headers: { 'x-api-key': 'ps_aaaaaaaaaaaa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x-forwarded-for': '203.0.113.9' },
      };
      for (const accept of ['application/json', 'application/graphql-response+json', 'text/html'])
        await net.rest('POST /graphql', { as: wrongKey, body: { query: NAME }, headers: { accept } });
      for (const [body, type] of [
        ['{', 'application/json'],
        ['x', 'text/css'],
      ] as const)
        await net.rest('POST /graphql', {
          body,
          headers: { accept: 'application/graphql-response+json', 'content-type': type },
        });
    },
  },
  {
    name: 'graphql persisted queries',
    once: true,
    run: async (net) => {
      await net.shop();
      const post = (title: string, body: object) => net.rest('POST /graphql', { title, body });
      await post('an unknown hash', { variables: { id: 1 }, extensions: persisted(BY_ID) });
      await net.rest(get({ extensions: JSON.stringify(persisted(BY_ID)) }), { title: 'an unknown hash' });
      await post('a hash of another text', { query: NAME, extensions: persisted(BY_ID) });
      await post('a wrong hash registers nothing', { variables: { id: 1 }, extensions: persisted(BY_ID) });
      await post('registered', { query: BY_ID, variables: { id: 1 }, extensions: persisted(BY_ID) });
      await post('by its hash', { variables: { id: 2 }, extensions: persisted(BY_ID) });
      await post('by its hash, with an empty query', { query: '', variables: { id: 2 }, extensions: persisted(BY_ID) });
      await post('by its hash, without variables', { extensions: persisted(BY_ID) });
      await post('registered again', { query: BY_ID, variables: { id: 3 }, extensions: persisted(BY_ID) });
      const parameters = { variables: '{"id":"3"}', extensions: JSON.stringify(persisted(BY_ID)) };
      await net.rest(get(parameters), { title: 'by its hash' });
      await net.rest(get(parameters), { title: 'from another site', headers: { 'sec-fetch-site': 'cross-site' } });
      await net.rest(get({ query: NAME, extensions: JSON.stringify(persisted(NAME)) }), { title: 'registered by GET' });
      await post('registered by GET, used by POST', { extensions: persisted(NAME) });
      await post('an invalid text', { query: '{ nothing }', extensions: persisted('{ nothing }') });
      await post('an invalid text by its hash', { extensions: persisted('{ nothing }') });
      await post('an unparsable text', { query: '{', extensions: persisted('{') });
      await post('an unparsable text by its hash', { extensions: persisted('{') });
      await post('a mutation', { query: RENAME, extensions: persisted(RENAME) });
      await post('a mutation by its hash', { extensions: persisted(RENAME) });
      await net.rest(get({ extensions: JSON.stringify(persisted(RENAME)) }), { title: 'a mutation by its hash' });
      await post('another version', { query: NAME, extensions: persisted(NAME, 2) });
      await post('a hash in capitals', {
        extensions: { persistedQuery: { version: 1, sha256Hash: hash(NAME).toUpperCase() } },
      });
      await post('a hash that is a number', { extensions: { persistedQuery: { version: 1, sha256Hash: 1 } } });
      await post('no hash', { extensions: { persistedQuery: { version: 1 } } });
      await post('persistedQuery is null', { query: NAME, extensions: { persistedQuery: null } });
      await post('a documentId', { documentId: hash(NAME) });
    },
  },
  {
    name: 'graphql large responses',
    settings: { MAX_RESPONSE_BYTES: '10000' },
    run: async (net) => {
      const pets = Array.from(
        { length: 60 },
        (_, i) => `p${i}: createPet(input: { name: "${'🐶'.repeat(60)}${i}", categoryId: 1 }) { id }`,
      );
      await net.prepare('mutation { createCategory(input: { name: "Dogs" }) { id } }');
      await net.prepare(`mutation { ${pets.join(' ')} }`);
      await net.graphql('{ pets(first: 20) { nodes { name } } }');
      await net.graphql('{ pets(first: 60) { nodes { name } } }');
      await net.graphql('{ pets(first: 100) { nodes { name } } category(id: 1) { name } }');
      await net.graphql('{ category(id: 1) { pets(first: 30) { nodes { name } edges { node { name } } } } }');
      await net.graphql('{ __schema { types { name description fields { name description } } } }');
      await net.graphql(
        `mutation { one: updatePet(id: 1, input: { name: "Changed" }) { name } two: updatePet(id: 2, input: {}) { category { pets(first: 60) { nodes { name } } } } three: updatePet(id: 3, input: { name: "Changed" }) { name } }`,
      );
      await net.graphql('{ pet(id: 1) { name } third: pet(id: 3) { name } }');
      await net.graphql(
        'mutation { updatePet(id: 4, input: { name: "Changed" }) { category { pets(first: 60) { nodes { name } } } } }',
        undefined,
        { headers: { 'idempotency-key': 'large' } },
      );
      await net.graphql('{ pet(id: 4) { name } }');
      await net.rest('GET /pets?limit=100');
    },
  },
];
