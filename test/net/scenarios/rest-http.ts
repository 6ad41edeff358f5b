import type { Net, Scenario } from '../scenario';

type Headers = Record<string, string | string[] | undefined>;

const STALE = '"AAAAAAAAAAAAAAAAAAAAAAAAAAA"';

/** Changes of existing resources of the shop, to send with `If-Match`. */
const CHANGES: readonly [line: string, body?: object][] = [
  ['PUT /pets/2', { name: 'Bella', categoryId: 1 }],
  ['PUT /categories/1', { name: 'Hounds' }],
  ['PATCH /categories/2', { description: 'Aloof' }],
  ['PATCH /store/orders/1', { quantity: 1, shipDate: null }],
  ['PUT /store/inventory/6', { quantity: 9 }],
  ['DELETE /store/orders/2'],
  ['DELETE /store/inventory/5'],
  ['DELETE /pets/12'],
];

async function tagOf(net: Net, path: string): Promise<string> {
  const { headers } = await net.exchange('GET', path);
  return String(headers.etag);
}

async function conditionalReads(net: Net): Promise<void> {
  const tag = await tagOf(net, '/pets/1');
  net.hide(tag.slice(1, -1), 'tag');
  const known: [string, string][] = [
    ['the tag', tag],
    ['the weak tag', `W/${tag}`],
    ['one of several', `"a", ${tag} ,W/"b"`],
    ['`*`', '*'],
    ['`*` with spaces', ' * '],
    ['another tag', STALE],
    ['the tag without quotes', tag.slice(1, -1)],
    ['the tag in capitals', tag.toUpperCase()],
    ['nothing', ''],
  ];
  for (const [title, tags] of known) await net.rest('GET /pets/1', { headers: { 'if-none-match': tags }, title });
  for (const path of [
    '/pets?limit=2',
    '/categories/1',
    '/store/orders/1',
    '/store/inventory/1',
    '/store/inventory',
    '/openapi.json',
  ])
    await net.rest(`GET ${path}`, { headers: { 'if-none-match': await tagOf(net, path) }, title: 'the tag' });
  await net.rest('HEAD /pets/1', { headers: { 'if-none-match': tag }, title: 'the tag' });
  await net.rest('GET /pets/99', { headers: { 'if-none-match': '*' } });
  await net.rest('GET /pets/1', { headers: { 'if-match': STALE }, title: 'If-Match of a read is ignored' });
  await net.rest('POST /categories', {
    headers: { 'if-match': STALE },
    body: { name: 'Fish' },
    title: 'If-Match of POST is ignored',
  });
  await net.rest('PATCH /pets/1', {
    headers: { 'if-none-match': '*' },
    body: {},
    title: 'If-None-Match of a change is ignored',
  });
  const modified = {
    'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT',
    'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT',
  };
  await net.rest('GET /categories/1', { headers: modified, title: 'conditions on times are ignored' });
}

async function conditionalChanges(net: Net): Promise<void> {
  const patch = (title: string, tags: string) =>
    net.rest('PATCH /pets/1', { headers: { 'if-match': tags }, body: { status: 'sold' }, title });
  const tag = await tagOf(net, '/pets/1');
  await patch('a stale tag', STALE);
  await patch('the weak tag', `W/${tag}`);
  await patch('an empty tag', '""');
  await patch('a list of others', `${STALE}, W/${tag}, "other,with,commas"`);
  for (const tags of ['', ',', 'abc', '"a', '*, "a"', 'w/"a"', '"a" "b"', '"a b"', "'a'"])
    await patch(`malformed: ${tags}`, tags);
  await patch('the tag', tag);
  await patch('the tag of before', tag);
  await patch('one of several', `${STALE} ,, ${await tagOf(net, '/pets/1')},"other,with,commas"`);
  await patch('`*`', '*');
  for (const [line, body] of CHANGES) {
    const path = line.slice(line.indexOf(' ') + 1);
    await net.rest(line, { headers: { 'if-match': STALE }, body, title: 'a stale tag' });
    await net.rest(line, { headers: { 'if-match': await tagOf(net, path) }, body, title: 'the tag' });
  }
  await net.rest('PUT /store/inventory/8', {
    headers: { 'if-match': '*' },
    body: { quantity: 1 },
    title: '`*` for a missing entry',
  });
  await net.rest('PUT /store/inventory/8', {
    headers: { 'if-match': STALE },
    body: { quantity: 1 },
    title: 'an ETag for a missing entry',
  });
  await net.rest('PATCH /pets/99', {
    headers: { 'if-match': STALE },
    body: {},
    title: 'an ETag for a missing resource',
  });
  await net.rest('DELETE /pets/99', { headers: { 'if-match': '*' }, title: '`*` for a missing resource' });
  await net.rest('DELETE /categories/1', {
    headers: { 'if-match': STALE },
    title: 'a stale tag for a resource that cannot be deleted',
  });
  await net.rest('DELETE /categories/1', {
    headers: { 'if-match': '*' },
    title: '`*` for a resource that cannot be deleted',
  });
  await net.rest('PATCH /pets/1', {
    headers: { 'if-match': STALE },
    body: { name: '' },
    title: 'a stale tag and a bad body',
  });
  const stock = await tagOf(net, '/store/inventory/3');
  await net.rest('PATCH /pets/3', { body: { status: 'available' }, title: 'also changes the tag of its stock' });
  await net.rest('PUT /store/inventory/3', {
    headers: { 'if-match': stock },
    body: { quantity: 1 },
    title: 'the tag of before',
  });
}

const PATHS = [
  '/pets',
  '/pets/1',
  '/categories',
  '/categories/x',
  '/store/orders',
  '/store/orders/1',
  '/store/inventory',
  '/store/inventory/1',
  '/rate_limit',
  '/usage',
  '/openapi.json',
  '/nothing',
];

const NOT_ALLOWED = [
  ...['DELETE /pets', 'POST /pets/1', 'PATCH /categories', 'PROPFIND /categories/1', 'PUT /store/inventory'],
  ...[
    'DELETE /store/orders',
    'PUT /store/orders/1',
    'POST /store/inventory',
    'PATCH /store/inventory/1',
    'POST /rate_limit',
  ],
  ...['DELETE /usage', 'POST /openapi.json', 'PUT /openapi.yaml'],
];

const PREFLIGHT: Headers = {
  origin: 'https://shop.example',
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'content-type,x-api-key,if-match',
};

const ACCEPTED = [
  ...['*/*', 'application/json', 'application/*', 'APPLICATION/JSON', 'application/json; charset=utf-8', ''],
  ...['text/html, application/json;q=0.1', 'text/html;q=0.9,*/*;q=0.1', 'application/json, text/plain, */*'],
];
const NOT_ACCEPTED = [
  ...[
    'text/html',
    'application/xml',
    'application/json;q=0',
    'application/json;q=0, text/*',
    '*/*;q=0',
    'nonsense',
    'application/jsonx',
  ],
];

const TYPES = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'],
  ...[
    'application/json; charset=utf8; x=y',
    'application/merge-patch+json',
    'application/merge-patch+json; charset=utf-8',
  ],
  ...['application/json-patch+json', 'application/jsonx', 'application/xml', 'text/plain', 'text/json', 'nonsense', ''],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'],
  ...['application/json; charset=iso-8859-1', 'application/merge-patch+json; charset=latin1'],
];

async function methods(net: Net): Promise<void> {
  await net.rest('OPTIONS /pets');
  const allowed: string[] = [];
  for (const path of PATHS) {
    const { status, headers } = await net.exchange('OPTIONS', path);
    allowed.push(`${path}: ${status} allow: ${headers.allow} accept-patch: ${headers['accept-patch']}`);
  }
  net.note('OPTIONS', allowed.join('\n'));
  for (const path of ['/pets/1', '/nothing'])
    await net.rest(`OPTIONS ${path}`, { as: net.anonymous(), headers: PREFLIGHT });
  await net.rest('OPTIONS /pets', { headers: { 'content-type': 'application/json' }, title: 'a type without a body' });
  await net.rest('GET /pets?id=1', { headers: { origin: 'https://shop.example' } });
  await net.rest('GET /pets/x', { headers: { origin: 'https://shop.example' } });
  await net.rest('PUT /pets');
  await net.rest('TRACE /pets/x');
  const refused: string[] = [];
  for (const [method = '', path = ''] of NOT_ALLOWED.map((line) => line.split(' '))) {
    const { status, headers, json } = await net.exchange(method, path);
    refused.push(`${method} ${path}: ${status} ${json.code} allow: ${headers.allow}`);
  }
  net.note('methods that are not allowed', refused.join('\n'));
  await net.rest('PUT /pets', {
    headers: { 'content-type': 'text/xml' },
    body: '<pet/>',
    title: '405 comes before 415',
  });
  await net.rest('HEAD /dogs');
  await net.table(
    'methods of an unknown path',
    ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) => [`${method} /dogs`]),
  );
  for (const path of [
    '/pets?limit=1',
    '/pets/1',
    '/pets/99',
    '/pets/x',
    '/store/inventory?maxQuantity=3',
    '/openapi.yaml',
  ])
    await net.rest(`HEAD ${path}`);
}

async function mediaTypes(net: Net): Promise<void> {
  const answers: string[] = [];
  for (const accept of [...ACCEPTED, ...NOT_ACCEPTED]) {
    const { status, json, headers } = await net.exchange('GET', '/pets/1', { headers: { accept } });
    answers.push(`${accept}: ${status} ${headers['content-type']} ${json.code ?? json.name}`);
  }
  net.note('Accept of GET /pets/1', answers.join('\n'));
  await net.rest('GET /pets/1', { headers: { accept: 'text/html' } });
  await net.rest('POST /pets', { headers: { accept: 'text/html' }, body: { name: 'Mia', categoryId: 1 } });
  await net.rest('DELETE /pets/12', { headers: { accept: 'text/html' } });
  await net.rest('GET /nothing', { headers: { accept: 'text/html' } });
  await net.rest('GET /pets', {
    headers: { 'accept-encoding': 'gzip, br', 'accept-language': 'de', 'accept-charset': 'latin1' },
  });

  const types: string[] = [];
  for (const type of TYPES) {
    const headers = { 'content-type': type };
    const body = '{"name":"Mia","categoryId":1}';
    const statuses = [];
    for (const line of ['POST /pets', 'PUT /pets/1', 'PATCH /pets/1']) {
      const [method = '', path = ''] = line.split(' ');
      statuses.push(`${method} ${(await net.exchange(method, path, { headers, body })).status}`);
    }
    types.push(`${type}: ${statuses.join(', ')}`);
  }
  net.note('Content-Type of a body', types.join('\n'));
  const refused = { 'content-type': 'application/json-patch+json' };
  await net.rest('PATCH /pets/1', { headers: refused, body: '[]' });
  await net.rest('PUT /pets/1', { headers: refused, body: '[]' });
  await net.rest('POST /pets', { headers: { 'content-type': undefined }, body: '{}' });
  await net.rest('POST /pets', { headers: { 'content-type': 'application/json; charset=utf-16' }, body: '{}' });
  await net.rest('PATCH /pets/1', { headers: { 'content-encoding': 'gzip' }, body: '{}' });
  await net.rest('PATCH /pets/1', { headers: { 'content-encoding': 'identity' }, body: '{}' });
  await net.rest('DELETE /pets/11', {
    headers: { 'content-length': '7' },
    body: 'no JSON',
    title: 'the body of DELETE is ignored',
  });
  await net.rest('DELETE /pets/10', {
    headers: { 'content-type': 'application/json' },
    title: 'a type without a body',
  });
  await net.rest('PATCH /pets/1', { body: '{"name":"Mia"}'.padEnd(102_400), title: '100 KiB' });
}

async function markers(net: Net): Promise<void> {
  const anonymous = net.anonymous();
  await net.rest('GET /pets/1', { title: 'deprecated' });
  await net.rest('GET /pets/99', { title: 'deprecated' });
  await net.rest('GET /pets/1%0D%0AX-Evil:%201%3E', { title: 'deprecated' });
  await net.rest('GET /pets/1', { as: anonymous, headers: { 'x-api-key': 'wrong' }, title: 'deprecated' });
  await net.rest('GET /store/inventory?status=sold', { title: 'stable' });
  await net.rest('GET /store/inventory?maxQuantity=1', { title: 'beta' });
  await net.rest('DELETE /store/inventory/6', { title: 'beta' });
  await net.rest('DELETE /store/inventory/5', { as: anonymous, title: 'beta' });
  await net.rest('POST /pets', { as: anonymous, body: '{' });
  await net.rest('GET /pets?limit=1', { headers: { 'x-request-id': 'my-request.1:2_3' }, title: 'its own request id' });
  await net.rest('GET /pets/x', { headers: { 'x-request-id': 'my-request' }, title: 'its own request id' });
  for (const id of ['', 'a b', 'x'.repeat(129), '<b>'])
    await net.rest('GET /pets?id=99', { headers: { 'x-request-id': id } });
}

const ODD_PATHS = [
  ...['/categories/', '//categories', '/categories//1', '/categories/1/', '/categories/1/2', '/Categories', '/store'],
  ...['/store/', '/categories.json', '/%63ategories', '/categories/%31', '/categories%2F1', '/categories/1%2F'],
  ...['/./categories', '/x/../categories', '/categories/..', '/categories;a=b', '/categories?', '/categories/1?'],
  ...[
    '/categories??',
    '/categories/%',
    '/categories/%zz',
    '/categories/%ff',
    '/categories?name=%ff',
    '/categories?%zz=1',
  ],
  ...['/%zz', '/categories?name=%', '/%00'],
];

export const scenarios: Scenario[] = [
  {
    name: 'rest conditional requests',
    run: async (net) => {
      await net.shop();
      await net.spreadIds();
      await conditionalReads(net);
      await conditionalChanges(net);
    },
  },
  {
    name: 'rest methods and media types',
    once: true,
    run: async (net) => {
      await net.shop();
      await methods(net);
      await mediaTypes(net);
      await markers(net);
      await net.table(
        'odd paths',
        ODD_PATHS.map((path) => [`GET ${path}`]),
      );
    },
  },
];
