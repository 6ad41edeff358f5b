import type { Scenario } from '../scenario';

const BEYOND = '9223372036854775808';
const LONE = '\ud800';

/** Bodies that are rejected, by operation. The response reports all faults of a body. */
const REFUSED: Readonly<Record<string, readonly unknown[]>> = {
  'POST /pets': [
    {},
    { name: 'Mia' },
    { name: null, categoryId: null },
    { name: 'Mia', categoryId: 1, colour: 'red', Name: 'Mia', petId: 1 },
    { name: 5, categoryId: 'x', status: 'gone' },
    { name: ['Mia'], categoryId: [1], status: ['sold'] },
    { name: {}, categoryId: true, status: 'SOLD' },
    { name: '', categoryId: 0, status: '' },
    { name: ' \t\n\u00a0\u3000 ', categoryId: -1 },
    { name: 'x'.repeat(256), categoryId: 1.5 },
    { name: '🐕'.repeat(256), categoryId: '1' },
    { name: 'a\0b', categoryId: 1 },
    { name: `a${LONE}b`, categoryId: 1 },
    '{"name":"\\udc00\\ud800","categoryId":1234567890123456}',
    '{"name":"x","categoryId":1,"name":5}',
    '{"name":"Mia","categoryId":1,"__proto__":{"status":"sold"}}',
    '{"name":"Mia","categoryId":1,"constructor":1,"toString":2,"":3}',
    '[]',
    '[{"name":"Mia","categoryId":1}]',
    '',
    undefined,
  ],
  'PUT /pets/1': [{}, { status: 'sold' }, { name: 'x'.repeat(256), categoryId: 'x', status: 1 }, '[]', ''],
  'PATCH /pets/1': [
    { name: null, categoryId: null, status: null },
    { name: '  ', categoryId: '2', status: 'gone', colour: null },
    { name: 'a\0' },
    '[{"op":"replace","path":"/name","value":"x"}]',
    '',
  ],
  'PUT /pets/x': [{ name: '', categoryId: 0 }, '"x"'],
  'POST /categories': [
    {},
    { description: 'x'.repeat(2001), colour: 'red' },
    { name: 'Fish', description: 5 },
    { name: 'Fish', description: `a\0${LONE}` },
    { name: 'Fish', pets: [] },
  ],
  'PUT /categories/1': [{ description: 'Loyal' }, { name: null }],
  'PATCH /categories/1': [
    { name: null, description: ['x'] },
    { name: 'x'.repeat(300), description: 'x'.repeat(2001) },
  ],
  'POST /store/orders': [
    { petId: '1', quantity: '1', shipDate: 5, complete: 'true' },
    { petId: 0, quantity: 0, shipDate: '', complete: 1 },
    { petId: [1], quantity: 1.5, shipDate: {}, complete: [] },
    { quantity: 2147483648 },
    { quantity: -1, status: 'placed', userId: 1 },
    '{"quantity":12345678901234567890}',
    '[1]',
    '',
  ],
  'PATCH /store/orders/1': [{ complete: null, quantity: 0 }, `{"petId":${BEYOND}}`, { shipDate: 'tomorrow' }],
  'PUT /store/inventory/1': [
    {},
    { quantity: null },
    { quantity: -1, petId: 2 },
    { quantity: 2147483648 },
    { quantity: '5', status: 'sold' },
    { quantity: true },
    'true',
  ],
};

/** Bodies for a pet with an invalid category id, and bodies that are not an object. */
const BAD_IDS = [
  '{"name":"Mia","categoryId":1.0}',
  '{"name":"Mia","categoryId":1e0}',
  '{"name":"Mia","categoryId":1e400}',
  '{"name":"Mia","categoryId":-0}',
  `{"name":"Mia","categoryId":${BEYOND}}`,
  `{"name":"Mia","categoryId":${'9'.repeat(1000)}}`,
  'null',
  '"Mia"',
  '12345678901234567890',
  'true',
];

const MALFORMED = [
  ' \n',
  '{',
  '{"name":"Mia","categoryId":1',
  '{"name":"Mia","categoryId":1,}',
  '{"name":"Mia","categoryId":1} x',
  '{"name":"Mia","categoryId":01}',
  "{'name':'Mia'}",
  '{"name":"a\nb","categoryId":1}',
  '{"name":"\\x41","categoryId":1}',
  '{"name":NaN}',
  '/* pet */ {"name":"Mia","categoryId":1}',
  'name=Mia&categoryId=1',
  '['.repeat(1000),
  `{"name":${'['.repeat(1000)}12345678901234567890${']'.repeat(1000)}}`,
  '{"name":"Mia"}{"name":"Mia"}',
];

const BAD_DATES = [
  '2024-02-30T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2024-13-01T00:00:00Z',
  '2024-00-10T00:00:00Z',
  '2024-01-01T24:00:00Z',
  '2024-01-01T23:60:00Z',
  '2024-01-01T23:59:60Z',
  '2024-06-30T23:59:60Z',
  '2024-01-01T00:00:00',
  '2024-01-01T00:00:00+24:00',
  '2024-01-01T00:00:00+0100',
  '2024-01-01 00:00:00Z',
  '2024-01-01T00:00Z',
  '2024-01-01',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '10000-01-01T00:00:00Z',
  '+002024-01-01T00:00:00Z',
  '2024-01-01T00:00:00Z ',
];

/** Bodies that are accepted, although they are similar to rejected ones. */
const TAKEN: readonly [line: string, body: unknown][] = [
  ['POST /pets', { name: 'x'.repeat(255), categoryId: 1 }],
  ['POST /pets', { name: '🐕'.repeat(255), categoryId: 1 }],
  ['POST /pets', { name: `  ${'y'.repeat(255)}\n`, categoryId: 1 }],
  ['POST /pets', '{"name":"a","categoryId":99,"name":"Last","categoryId":1}'],
  ['POST /pets', '\ufeff {"name":"\\u0042OM \\ud83d\\udc15","categoryId":1} '],
  ['POST /pets', { name: '\u0001\u007f\u200b', categoryId: 1 }],
  ['POST /categories', { name: 'Fish', description: '🐠'.repeat(2000) }],
  ['POST /store/orders', '{"quantity":1.0}'],
  ['POST /store/orders', '{"quantity":1e1}'],
  ['PATCH /store/orders/3', { quantity: 2147483647 }],
];

export const scenarios: Scenario[] = [
  {
    name: 'rest bodies',
    run: async (net) => {
      await net.shop();
      await net.spreadIds();
      for (const [line, body] of TAKEN)
        await net.rest(line, { body, save: line.startsWith('POST') ? { new: 'id' } : {} });
      for (const [line, bodies] of Object.entries(REFUSED))
        for (const body of bodies) await net.rest(line, { body, ...(body === '' && { title: 'an empty body' }) });
      const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field${i}`, 1]));
      const { json } = await net.exchange('PATCH', '/pets/1', { body: fields });
      net.note('a thousand unknown fields', [json.status, json.code, `${json.details.length} details`]);
      const table = (title: string, line: string, bodies: readonly unknown[]) =>
        net.table(
          title,
          bodies.map((body) => [line, body]),
        );
      await table('invalid ids', 'POST /pets', BAD_IDS);
      await table('JSON that is malformed', 'POST /pets', MALFORMED);
      await table(
        'dates that do not exist',
        'POST /store/orders',
        BAD_DATES.map((shipDate) => ({ shipDate })),
      );
      await net.rest('GET /pets', { title: 'nothing has changed' });
      await net.rest('GET /store/orders', { title: 'nothing has changed' });
    },
  },
];
