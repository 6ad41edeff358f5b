import type { Caller, Net, Options, Scenario } from '../scenario';

const PET = { name: 'Kid', categoryId: 2 };

async function idempotency(net: Net): Promise<void> {
  const keyed = (line: string, key: string, body: unknown, options: Options = {}) =>
    net.rest(line, { ...options, body, headers: { 'idempotency-key': key, ...options.headers } });

  await keyed('POST /pets', 'a', PET, { save: { kid: 'id' } });
  await keyed('POST /pets', 'a', PET);
  await keyed('POST /pets', '"a"', '{ "categoryId": 2, "status": null, "name": "Kid" }', {
    title: 'the same in another form',
  });
  await keyed('POST /pets', 'a', { ...PET, name: ' Kid ' }, { title: 'a name that is trimmed' });
  await keyed('POST /pets', 'a', { ...PET, name: 'Other' }, { title: 'another body' });
  await keyed('POST /pets', 'a', { ...PET, status: 'sold' }, { title: 'one more field' });
  await keyed('POST /categories', 'a', { name: 'Kid' }, { title: 'another operation' });
  await keyed('PATCH /pets/1', 'a', { name: 'Kid' }, { title: 'another operation' });
  await keyed('POST /pets', 'A', PET, { save: { second: 'id' }, title: 'keys have upper and lower case' });
  await net.rest('GET /pets?name=kid');

  await keyed('PATCH /pets/1', 'patch', { name: 'Max' });
  await keyed('PATCH /pets/1', 'patch', { name: 'Max' });
  await keyed('PATCH /pets/2', 'patch', { name: 'Max' }, { title: 'another pet' });
  await keyed('POST /store/orders', 'order', { petId: 1, quantity: 3 }, { save: { order: 'id' } });
  await keyed('POST /store/orders', 'order', { petId: 1, quantity: 3 });
  await net.rest('GET /store/inventory/1', { title: 'the stock has been taken once' });

  await keyed('POST /store/orders', 'sold out', { petId: 1, quantity: 1 }, { title: 'a key with a space' });
  await keyed('POST /store/orders', 'soldout', { petId: 1, quantity: 1 }, { title: 'refused' });
  await net.rest('PUT /store/inventory/1', { body: { quantity: 5 } });
  await keyed('POST /store/orders', 'soldout', { petId: 1, quantity: 1 }, { title: 'the refusal is kept' });
  await keyed('POST /pets', 'lost', { name: 'Lost', categoryId: 99 });
  await keyed('POST /pets', 'lost', { name: 'Lost', categoryId: 99 }, { title: 'the refusal is kept' });
  await keyed('PATCH /pets/99', 'nobody', {});
  await keyed('PATCH /pets/99', 'nobody', {}, { title: 'the refusal is kept' });

  await keyed('POST /pets', 'corrected', '{', { title: 'malformed' });
  await keyed('POST /pets', 'corrected', { ...PET, name: '' }, { title: 'bad input' });
  await keyed('POST /pets', 'corrected', PET, { save: { corrected: 'id' }, title: 'corrected' });

  for (const key of ['', ' ', 'a b', '"a', '""', 'ä', 'x'.repeat(256), '"\\"', '"\\x"'])
    await keyed('POST /pets', key, PET, { title: 'an invalid key' });
  await keyed('PATCH /pets/2', 'a"', {}, { title: 'a quote at the end' });
  await keyed('PATCH /pets/1', '"patch" ', { name: 'Max' }, { title: 'quotes and a space around the key of before' });
  await keyed('PATCH /pets/2', 'x'.repeat(255), {}, { title: '255 characters' });
  await keyed('PATCH /pets/2', '"a,b\\"\\\\"', {}, { title: 'escapes' });
  await keyed('PATCH /pets/2', "!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", {}, { title: 'all kinds of characters' });
  await keyed('GET /pets?id=99', 'a', undefined, { title: 'ignored by GET' });
  await keyed('PUT /pets/3', 'a', { name: 'Rex', categoryId: 1 }, { title: 'ignored by PUT' });
  await keyed('DELETE /pets/12', 'a', undefined, { title: 'ignored by DELETE' });

  const other = await net.key('other');
  const reader = await net.key('reader', { scopes: ['READ'] });
  await keyed('POST /pets', 'a', PET, { as: other, save: { third: 'id' }, title: 'keys belong to their caller' });
  await keyed('POST /pets', 'a', PET, { as: other });
  await keyed('POST /pets', 'a', PET, { as: reader });
  await keyed('POST /pets', 'a', PET, { as: net.anonymous() });

  const { headers } = await net.exchange('GET', '/pets/4');
  const match = { 'if-match': String(headers.etag) };
  const stale = { 'if-match': '"AAAAAAAAAAAAAAAAAAAAAAAAAAA"' };
  await keyed('PATCH /pets/4', 'match', { name: 'Arne' }, { headers: stale, title: 'a stale tag' });
  await keyed('PATCH /pets/4', 'match', { name: 'Arne' }, { headers: match, title: 'the tag' });
  await keyed('PATCH /pets/4', 'match', { name: 'Arne' }, { headers: match, title: 'the tag of before' });
  await keyed('PATCH /pets/4', 'match', { name: 'Arne' }, { title: 'no tag' });
  await net.prepare('mutation { deletePet(id: 4) { id } }');
  await keyed('PATCH /pets/4', 'match', { name: 'Arne' }, { title: 'the pet has been deleted' });
}

async function countedOrNot(net: Net, as: Caller): Promise<void> {
  await net.rest('GET /nothing', { as, title: 'counts' });
  await net.rest('GET /pets/x', { as, title: 'counts' });
  await net.rest('HEAD /pets/99', { as, title: 'counts' });
  await net.rest('PUT /pets', { as, title: 'counts' });
  await net.rest('OPTIONS /pets', { as, title: 'counts nothing' });
  await net.rest('HEAD /openapi.json', { as, title: 'counts nothing' });
}

async function quota(net: Net): Promise<void> {
  const [free, enterprise] = [
    await net.key('free'),
    await net.key('enterprise', { plan: 'ENTERPRISE', perMinute: 7, perDay: 9 }),
  ];
  for (const as of [free, enterprise, net.anonymous(7)]) {
    await net.rest('GET /rate_limit', { as, title: 'before any request' });
    await net.rest('GET /usage?days=1', { as });
    await net.rest('GET /pets?id=99', { as });
    if (as === free) await countedOrNot(net, as);
    await net.rest('GET /rate_limit', { as });
    // The response adds saved and unsaved usage, so it does not matter when usage is saved.
    await net.rest('GET /usage?days=1', { as });
  }
  for (const query of ['days=0', 'days=401', 'days=', 'days=x', 'days=1&days=2', 'since=1'])
    await net.rest(`GET /usage?${query}`, { as: free });
  const counts = async (path: string) => (await net.exchange('GET', path, { as: free })).json.length;
  net.note('days of GET /usage, of days=400', [await counts('/usage'), await counts('/usage?days=400')]);
  await net.rest('HEAD /rate_limit', { as: free });
  const { headers } = await net.exchange('GET', '/usage?days=1', { as: free });
  await net.rest('GET /usage?days=1', { as: free, headers: { 'if-none-match': String(headers.etag) } });
}

async function documents(net: Net): Promise<void> {
  await net.rest('HEAD /openapi.json');
  await net.rest('HEAD /openapi.yaml', { as: net.anonymous() });
  await net.rest('GET /openapi.json?x=1', { headers: { accept: 'text/html', 'if-none-match': '*' } });
  await net.rest('GET /openapi.yml');
  const { json } = await net.exchange('GET', '/openapi.json');
  const yaml = await net.exchange('GET', '/openapi.yaml');
  const operations = Object.entries<Record<string, { operationId?: string; deprecated?: boolean; tags?: string[] }>>(
    json.paths,
  ).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId)
      .map(
        ([method, { operationId, tags, deprecated }]) =>
          `${method} ${path}: ${operationId}, ${tags}${deprecated ? ', deprecated' : ''}`,
      ),
  );
  net.note(
    'the OpenAPI document',
    [json.openapi, json.info.version, `${operations.length} operations`, ...operations].join('\n'),
  );
  net.note('its beginning in YAML', yaml.text.slice(0, yaml.text.indexOf('\n')));
}

export const scenarios: Scenario[] = [
  {
    name: 'rest idempotency keys',
    run: async (net) => {
      await net.shop();
      await net.spreadIds();
      await idempotency(net);
    },
  },
  {
    name: 'rest quota and documents',
    once: true,
    run: async (net) => {
      await quota(net);
      await documents(net);
    },
  },
];
