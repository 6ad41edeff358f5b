import { statement } from '../../src/database/statement';
import { everyRow, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { titled } from '../helper/titled';
import { send } from '../rest/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  // An order without a pet reserves no stock, so the tests can set any quantity.
  await gateway.data('mutation { updateOrder(id: 1, input: { petId: null, quantity: null }) { id } }');
});
afterAll(() => gateway.close());

/** The input type, GraphQL field and REST request of each operation, and the fields that a valid input must have. */
const OPERATIONS = {
  createPet: ['NewPet', 'createPet(input: $)', 'POST /pets', { name: 'Mia', categoryId: 1 }],
  updatePet: ['PetUpdate', 'updatePet(id: 1, input: $)', 'PATCH /pets/1', {}],
  createCategory: ['NewCategory', 'createCategory(input: $)', 'POST /categories', { name: 'Cats' }],
  updateCategory: ['CategoryUpdate', 'updateCategory(id: 1, input: $)', 'PATCH /categories/1', {}],
  placeOrder: ['NewOrder', 'placeOrder(input: $)', 'POST /store/orders', {}],
  updateOrder: ['OrderUpdate', 'updateOrder(id: 1, input: $)', 'PATCH /store/orders/1', {}],
  setInventory: ['InventoryUpdate', 'setInventory(petId: 1, input: $)', 'PUT /store/inventory/1', { quantity: 1 }],
} as const;
type Operation = keyof typeof OPERATIONS;

const withVariable = (operation: Operation, selected = '__typename') => {
  const [type, call] = OPERATIONS[operation];
  return `mutation ($input: ${type}!) { made: ${call.replace('$', '$input')} { ${selected} } }`;
};
const withLiteral = (operation: Operation, input: object, selected = '__typename') => {
  const fields = Object.entries(input).map(
    ([name, value]) => `${name}: ${JSON.stringify(value).replace(/^"(available|pending|sold)"$/, '$1')}`,
  );
  return `mutation { made: ${OPERATIONS[operation][1].replace('$', () => `{ ${fields} }`)} { ${selected} } }`;
};

const between = (min: number) => `must be an integer from ${min} to 2147483647`;
const EMPTY = 'must not be empty';
const NUL = 'must not contain the NUL character';
const LONE = 'must not contain a lone surrogate';
const TEXT = 'must be a string';
const BOOLEAN = 'must be true or false';
const STATUS = 'must be one of available, pending, sold';
const ID = 'must be an integer from 1 to 9223372036854775807';
const DATE = 'must be a real date-time of RFC 3339 with an offset, such as 2026-11-21T09:30:00+01:00';
const atMost = (length: number) => `must have at most ${length} characters`;
const REQUIRED = 'is required';
const NULL = 'must not be null';
const KEPT = 'must not be null; omit it instead';

/** Matches messages that are the same in GraphQL and REST. The messages for a wrong type differ. */
const SHARED = /empty|NUL|surrogate|at most|required|omit|is not a field/;

interface Kind {
  readonly fields: readonly (readonly [Operation, string])[];
  /** Valid values, each with the stored value if that differs. */
  readonly accepted: readonly (readonly [value: unknown, stored?: unknown])[];
  readonly rejected: readonly (readonly [message: string, ...values: unknown[]])[];
}

const ordered = (min: number, ...fields: Kind['fields']): Kind => ({
  fields,
  accepted: [[min], [1], [2147483647]],
  rejected: [[between(min), min - 1, -1, 2147483648, -2147483649, 1.5, '1', '', true, [1, 2], {}]],
});
const KINDS: Readonly<Record<string, Kind>> = {
  'a name': {
    fields: [
      ['createPet', 'name'],
      ['updatePet', 'name'],
      ['createCategory', 'name'],
      ['updateCategory', 'name'],
    ],
    accepted: [
      ['x'],
      ['x'.repeat(255)],
      ['🐕'.repeat(255)],
      [` \n${'x'.repeat(255)}\u00a0\u3000`, 'x'.repeat(255)],
      [`a  b'"; drop table pets --`],
      ['a\u0001b'],
      ['👩‍👩‍👧‍👦'],
    ],
    rejected: [
      [EMPTY, '', ' \t\r\n\u00a0\u2003\u3000\ufeff'],
      [atMost(255), 'x'.repeat(256), '🐕'.repeat(256), ` ${'x'.repeat(256)}`],
      [NUL, 'a\0b'],
      [LONE, '\ud800', 'a\udc00b', '\udc36\ud83d'],
      [TEXT, 5, true, ['Mia'], {}],
    ],
  },
  'a description': {
    fields: [
      ['createCategory', 'description'],
      ['updateCategory', 'description'],
    ],
    accepted: [['🐈'.repeat(2000)], ['\n They purr. ', 'They purr.'], ['They purr.\nThey sleep.']],
    rejected: [
      [atMost(2000), 'x'.repeat(2001), '🐈'.repeat(2001)],
      [NUL, '\0'],
      [LONE, 'a\ud800'],
      [TEXT, 5],
    ],
  },
  'a status': {
    fields: [
      ['createPet', 'status'],
      ['updatePet', 'status'],
    ],
    accepted: [['available'], ['pending'], ['sold']],
    rejected: [[STATUS, 'gone', 'SOLD', '', 1, ['sold']]],
  },
  'a quantity of an order': ordered(1, ['placeOrder', 'quantity'], ['updateOrder', 'quantity']),
  'a quantity in stock': ordered(0, ['setInventory', 'quantity']),
  'the completion of an order': {
    fields: [
      ['placeOrder', 'complete'],
      ['updateOrder', 'complete'],
    ],
    accepted: [[true], [false]],
    rejected: [[BOOLEAN, 1, 'true']],
  },
  'a ship date': {
    fields: [
      ['placeOrder', 'shipDate'],
      ['updateOrder', 'shipDate'],
    ],
    accepted: [
      ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
      ['2026-11-21T09:30:00.5Z', '2026-11-21T09:30:00.500Z'],
      ['2026-11-21T09:30:00.123456789Z', '2026-11-21T09:30:00.123Z'],
      ['2026-11-21T09:30:00.9999Z', '2026-11-21T09:30:00.999Z'],
      ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
      ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z'],
      ['2026-11-21T09:30:00-00:00', '2026-11-21T09:30:00.000Z'],
      ['2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00.000Z'],
      ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
      ['1850-06-01T12:00:00Z', '1850-06-01T12:00:00.000Z'],
      ['0050-06-01T12:00:00Z', '0050-06-01T12:00:00.000Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z'],
    ],
    rejected: [
      [
        DATE,
        ...['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-10T00:00:00Z'],
        ...['2026-11-21T24:00:00Z', '2026-11-21T09:60:00Z', '2026-11-21T09:30:00', '2026-11-21T09:30Z'],
        ...['2026-11-21T09:30:00.Z', '2026-11-21T09:30:00+0100', '2026-11-21T09:30:00+24:00'],
        ...['2026-11-21 09:30:00Z', '2026-11-21', '20261121T093000Z', '0000-01-01T00:00:00Z'],
        ...['0001-01-01T00:00:00+01:00', '10000-01-01T00:00:00Z', '+10000-01-01T00:00:00Z'],
        ...['9999-12-31T23:59:59-01:00', '-0001-01-01T00:00:00Z', 'now', 'infinity', ''],
        ...[1764000000000, true, {}, ['2026-11-21T09:30:00Z']],
      ],
    ],
  },
};

/** Expects that GraphQL and REST reject an input, and report exactly these faults, in any order. */
async function expectRejected(operation: Operation, input: object, faults: readonly [path: string, message: string][]) {
  const refusal = await refusalOf(gateway, withVariable(operation), { input });
  expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  expect([...refusal.paths].sort()).toEqual(faults.map(([path]) => `input.${path}`).sort());
  for (const [path, message] of faults)
    if (SHARED.test(message))
      expect(refusal.details).toContainEqual(expect.objectContaining({ path: `input.${path}`, message }));
  const { status, json } = await send(gateway, OPERATIONS[operation][2], input);
  expect(status).toBe(400);
  // REST adds what JSON makes possible: `, not a string`, and `, without a fraction or an exponent`.
  const details = faults.map(([path, message]) => ({ path, message: expect.stringContaining(message) }));
  expect(json).toMatchObject({ code: 'BAD_USER_INPUT', status: 400, details });
}

describe.each(Object.entries(KINDS))('%s', (_kind, { fields, accepted, rejected }) => {
  test.each(fields)('in %s may have any valid value', async (operation, field) => {
    const [, , request, others] = OPERATIONS[operation];
    for (const [value, stored = value] of accepted) {
      const input = { ...others, [field]: value };
      const made = { made: { [field]: stored } };
      expect(await gateway.data(withVariable(operation, field), { input })).toEqual(made);
      expect(await gateway.data(withLiteral(operation, input, field))).toEqual(made);
      expect((await send(gateway, request, input)).json).toMatchObject({ [field]: stored });
    }
  });

  test.each(fields)('in %s is rejected if its value is invalid, and no row changes', async (operation, field) => {
    const before = await everyRow(gateway.database);
    for (const [message, ...values] of rejected)
      for (const value of values) {
        const input = { ...OPERATIONS[operation][3], [field]: value };
        await expectRejected(operation, input, [[field, message]]);
        if (typeof value === 'object') continue;
        expect(await refusalOf(gateway, withLiteral(operation, input))).toMatchObject({ status: 400 });
      }
    expect(await everyRow(gateway.database)).toEqual(before);
  });
});

test('every input field is tested', async () => {
  const kinds = Object.values(KINDS).flatMap(({ fields }) => fields);
  for (const [operation, [type]] of Object.entries(OPERATIONS)) {
    const { __type } = await gateway.data<{ __type: { inputFields: { name: string }[] } }>(
      `{ __type(name: "${type}") { inputFields { name } } }`,
    );
    const tested = kinds.filter(([of]) => of === operation).map(([, field]) => field);
    // Fields that refer to another row are tested in the file of each resource.
    const fields = __type.inputFields.map(({ name }) => name).filter((name) => !/Id$/.test(name));
    expect(tested.sort()).toEqual(fields.sort());
  }
});

const noField = (name: string, type: string): [string, string] => [name, `is not a field of ${type}`];
const faulty: [Operation, object, ...[path: string, message: string][]][] = [
  ['createPet', {}, ['name', REQUIRED], ['categoryId', REQUIRED]],
  ['createPet', { name: 'Mia' }, ['categoryId', REQUIRED]],
  ['createPet', { name: null, categoryId: null }, ['name', NULL], ['categoryId', NULL]],
  [
    'createPet',
    { name: 'Mia', categoryId: 1, colour: 'red', wings: 3 },
    noField('colour', 'NewPet'),
    noField('wings', 'NewPet'),
  ],
  ['createPet', { name: 5, categoryId: [1], status: 'gone' }, ['name', TEXT], ['categoryId', ID], ['status', STATUS]],
  ['updatePet', { colour: null }, noField('colour', 'PetUpdate')],
  ['createCategory', { description: 'Loud' }, ['name', REQUIRED]],
  ['updateCategory', { pets: [] }, noField('pets', 'CategoryUpdate')],
  ['placeOrder', { status: 'placed' }, noField('status', 'NewOrder')],
  ['setInventory', {}, ['quantity', REQUIRED]],
  ['setInventory', { quantity: null }, ['quantity', NULL]],
  ['updateOrder', { complete: null }, ['complete', KEPT]],
  // All faults are reported together: a wrong type or a broken rule does not hide another fault.
  ['createPet', { name: '', categoryId: 1, status: 'gone' }, ['name', EMPTY], ['status', STATUS]],
  [
    'updatePet',
    { name: 'x'.repeat(256), categoryId: null, status: 'gone' },
    ['name', atMost(255)],
    ['categoryId', KEPT],
    ['status', STATUS],
  ],
  ['updatePet', { name: null, categoryId: null, status: null }, ['name', KEPT], ['categoryId', KEPT], ['status', KEPT]],
  [
    'createCategory',
    { name: ' ', description: '\0\ud800' },
    ['name', EMPTY],
    ['description', NUL],
    ['description', LONE],
  ],
  ['updateCategory', { name: null, description: 5 }, ['name', KEPT], ['description', TEXT]],
  ['placeOrder', { quantity: 0, shipDate: 'tomorrow' }, ['quantity', between(1)], ['shipDate', DATE]],
  [
    'placeOrder',
    { petId: 'x', quantity: 'two', shipDate: 5, complete: 'yes' },
    ['petId', ID],
    ['quantity', between(1)],
    ['shipDate', DATE],
    ['complete', BOOLEAN],
  ],
  ['setInventory', { quantity: -1, colour: 'red' }, ['quantity', between(0)], noField('colour', 'InventoryUpdate')],
];
test.each(faulty.map((row) => titled(row, 2)))(
  'every fault of an input is reported: %s',
  async (_title, operation, input, ...faults) => {
    const before = await everyRow(gateway.database);
    await expectRejected(operation, input, faults);
    expect(await everyRow(gateway.database)).toEqual(before);
  },
);

describe('an identifier', () => {
  const LARGEST = '9223372036854775807';
  const READS = ['pet(id: $)', 'category(id: $)', 'order(id: $)', 'inventoryItem(petId: $)'];
  const PLACES: [kind: string, field: string, path: string][] = [
    ...READS.map((field): [string, string, string] => ['query', field, field.includes('petId') ? 'petId' : 'id']),
    ['query', 'pets(filter: { ids: [1, $] })', 'filter.ids.1'],
    ['query', 'pets(filter: { categoryIds: [$] })', 'filter.categoryIds.0'],
    ['query', 'orders(filter: { petIds: [$] })', 'filter.petIds.0'],
    ['mutation', 'deletePet(id: $)', 'id'],
    ['mutation', 'updatePet(id: $, input: {})', 'id'],
    ['mutation', 'createPet(input: { name: "Max", categoryId: $ })', 'input.categoryId'],
    ['mutation', 'placeOrder(input: { petId: $ })', 'input.petId'],
    ['mutation', 'setInventory(petId: $, input: { quantity: 1 })', 'petId'],
  ];
  const write = (kind: string, field: string, id: string) =>
    `${kind} ${id === '$id' ? '($id: ID!)' : ''} { it: ${field.replace('$', () => id)} { __typename } }`;

  const WRONG = ['0', '-1', '1.5', '9223372036854775808', '1e3', '1e400', 'true', 'abc'];
  const TEXTS = ['', ' 1', '1 ', '01', '+1', '0x1', '１', '1n', '\u0000', '99999999999999999999'];
  const VALUES = [...WRONG, ...TEXTS, '\ud800', 0, -1, 1.5, 1e21, 2 ** 53, true, [1], [], {}];
  test.each(VALUES)('cannot be %j', async (id) => {
    const before = await everyRow(gateway.database);
    const refusal = { http: 400, code: 'BAD_USER_INPUT', status: 400 };
    for (const [kind, field, path] of PLACES)
      expect(await refusalOf(gateway, write(kind, field, '$id'), { id })).toMatchObject({ ...refusal, paths: [path] });
    // In a literal, 2^53 is exact and therefore valid.
    const literals = id === '\ud800' || id === 2 ** 53 ? [] : [JSON.stringify(id)];
    if (WRONG.includes(String(id))) literals.push(String(id));
    for (const literal of literals)
      for (const field of READS)
        expect(await refusalOf(gateway, write('query', field, literal))).toMatchObject(refusal);
    expect(await everyRow(gateway.database)).toEqual(before);
  });

  test.each(PLACES)('cannot be the id of an API key: %s %s', async (kind, field) => {
    const refusal = { code: 'BAD_USER_INPUT', status: 400 };
    for (const query of [write(kind, field, '$id'), write(kind, field, '"abcdefghijkl"')])
      expect(await refusalOf(gateway, query, { id: 'abcdefghijkl' })).toMatchObject(refusal);
  });

  test.each(READS)('may be a number or a string in %s, up to the largest int64', async (field) => {
    const found = { it: expect.anything() };
    for (const literal of ['1', '"1"']) expect(await gateway.data(write('query', field, literal))).toEqual(found);
    for (const id of [1, '1']) expect(await gateway.data(write('query', field, '$id'), { id })).toEqual(found);
    for (const literal of [LARGEST, `"${LARGEST}"`])
      expect(await gateway.data(write('query', field, literal))).toEqual({ it: null });
    expect(await gateway.data(write('query', field, '$id'), { id: LARGEST })).toEqual({ it: null });
  });

  describe('beyond 2^53 is exact over REST:', () => {
    const ID = '9223372036854775806';
    const PET = `{"id":${ID},"name":"Max","status":"available","categoryId":${ID}}`;
    beforeEach(async () => {
      const { database } = gateway;
      await fillShop(database);
      await database
        .serviceSession()
        .query(statement('insert into categories (id, name) values ($1, $2)'), [ID, 'Far']);
      await database
        .serviceSession()
        .query(statement('insert into pets (id, name, category_id) values ($1, $2, $1)'), [ID, 'Max']);
    });

    test.each<[string, string | undefined, string]>([
      [`GET /pets/${ID}`, undefined, PET],
      [`GET /pets?id=${ID}&categoryId=${ID}`, undefined, `[${PET}]`],
      [`PATCH /pets/${ID}`, `{"id":${ID},"categoryId":${ID}}`, PET],
      [`PUT /pets/${ID}`, `{"id":${ID},"name":"Max","categoryId":${ID}}`, PET],
      ['POST /pets', `{"name":"Max","categoryId":${ID}}`, PET.replace(ID, '4')],
      ['POST /store/orders', `{"petId": ${ID} }`, `{"id":2,"petId":${ID},"complete":false}`],
      [
        `PUT /store/inventory/${ID}`,
        `{"petId":${ID},"quantity":3}`,
        `{"petId":${ID},"quantity":3,"status":"available"}`,
      ],
    ])('%s %s', async (on, body, text) => {
      expect((await send(gateway, on, body)).text).toBe(text);
    });

    test('an id that is larger by one is a different id', async () => {
      const refused = { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } };
      expect(await send(gateway, `PATCH /pets/${ID}`, `{"id":${LARGEST}}`)).toMatchObject(refused);
    });
  });

  test.each<[string, unknown, object]>([
    // A create ignores the id in the body, because the service assigns ids.
    ['POST /pets', { id: 99, name: 'Mia', categoryId: 2 }, { status: 201, json: { id: 4 } }],
    ['POST /categories', { id: 'x', name: 'Birds' }, { status: 201, json: { id: 3 } }],
    ['POST /store/orders', { id: null }, { status: 201, json: { id: 2 } }],
    // The body of an update may repeat the id of the path.
    ['PUT /pets/1', { id: 1, name: 'Rex', categoryId: 1 }, { status: 200 }],
    ['PATCH /pets/1', { id: 1, name: 'Rex' }, { status: 200 }],
    ['PUT /categories/1', { id: 1, name: 'Dogs' }, { status: 200 }],
    ['PATCH /store/orders/1', { id: 1, petId: 1 }, { status: 200 }],
    ['PUT /store/inventory/1', { petId: 1, quantity: 1 }, { status: 200 }],
    [
      'PUT /pets/1',
      { id: 2, name: 'Rex', categoryId: 1 },
      { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } },
    ],
    ['PATCH /pets/1', { id: '1' }, { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } }],
    ['PATCH /pets/1', { id: null }, { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } }],
    ['PATCH /pets/1', { id: [1] }, { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } }],
    ['PATCH /store/orders/1', { id: 2 }, { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } }],
    [
      'PUT /store/inventory/1',
      { petId: 2, quantity: 1 },
      { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'petId' }] } },
    ],
    [
      'PUT /pets/1',
      '{ "id": 1.0, "name": "Rex", "categoryId": 1 }',
      { status: 400, json: { code: 'BAD_USER_INPUT', details: [{ path: 'id' }] } },
    ],
  ])('in a POST body is ignored; in other bodies it must equal the id in the path: %s %j', async (on, body, answer) => {
    await fillShop(gateway.database);
    expect(await send(gateway, on, body)).toMatchObject(answer);
  });
});

describe('a name in a search', () => {
  test.each([
    [NUL, 'a\0'],
    [LONE, '\ud800'],
    [atMost(255), 'x'.repeat(256)],
  ])('%s', async (message, name) => {
    for (const list of ['pets', 'categories']) {
      const query = `query ($name: String!) { ${list}(first: 0, filter: { name: $name }) { totalCount } }`;
      const refusal = await refusalOf(gateway, query, { name });
      expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', paths: ['filter.name', 'first'] });
      expect(refusal.details[0]?.message).toBe(message);
    }
  });
});

test.each([0, -1, 101, 2147483647])('a page size of %i is rejected', async (size) => {
  const refusal = { http: 200, code: 'BAD_USER_INPUT', status: 400 };
  for (const list of ['pets', 'categories', 'orders', 'inventory'])
    for (const end of ['first', 'last'])
      expect(await refusalOf(gateway, `{ ${list}(${end}: ${size}) { totalCount } }`)).toMatchObject({
        ...refusal,
        paths: [end],
      });
  expect(await refusalOf(gateway, `{ pet(id: 1) { orders(first: ${size}) { totalCount } } }`)).toMatchObject(refusal);
});

test.each(['10', 1.5, true, 2147483648])('a page size of %j is rejected', async (size) => {
  const query = 'query ($size: Int) { pets(first: $size) { totalCount } }';
  expect(await refusalOf(gateway, query, { size })).toMatchObject({
    http: 400,
    code: 'BAD_USER_INPUT',
    paths: ['first'],
  });
});
