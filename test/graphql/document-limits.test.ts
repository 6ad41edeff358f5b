import { getIntrospectionQuery } from 'graphql';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** A query that selects this of a pet. */
const ofPet = (selection: string) => `{ pet(id: 1) { ${selection} } }`;
const nested = (count: number, open: string, inside: string, close = '}') =>
  open.repeat(count) + inside + close.repeat(count);
const fragments = (count: number, body: (index: number) => string) =>
  times(count, (i) => `fragment F${i} on Pet { ${body(i)} }`);
const spreads = (count: number) => times(count, (i) => `...F${i}`);

/** Fragments that each spread the next one twice: 2^n fields from n lines. */
const doubling = (levels: number) =>
  `${ofPet('...F0')} ${fragments(levels, (i) => `...F${i + 1} category { id } ... on Pet { ...F${i + 1} }`)}
  fragment F${levels} on Pet { id }`;

/** A cycle of fragment spreads, with so many ways round. */
const circle = (size: number, ways: number) =>
  `${ofPet('...F0')} ${fragments(size, (i) => times(ways, (j) => `...F${(i + j + 1) % size}`))}`;

/** The introspection query of tools, `count` times in one operation. */
function introspections(count: number): string {
  const [head = '', ...fragments] = getIntrospectionQuery().split(/(?=fragment )/);
  const schema = head.slice(head.indexOf('__schema'), head.lastIndexOf('}'));
  return `{ ${times(count, (i) => `s${i}: ${schema}`)} } ${fragments.join('')}`;
}

const COMPLEX = 'OPERATION_TOO_COMPLEX';
const INVALID = 'GRAPHQL_VALIDATION_FAILED';
const UNPARSED = 'GRAPHQL_PARSE_FAILED';

const PAGES = nested(7, 'category { pets { nodes { ', 'id', '} } }');
const LONG_ALIASES = times(38, (i) => `${'x'.repeat(2400)}${i}: name`);
const COUNTS = times(100, (i) => `a${i}: pets(filter: { name: "0" }) { totalCount }`);
const ROWS = 'categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } }';
const CYCLE = '__schema { types { fields { type { fields { type { fields { type { name } } } } } } } }';
const COMPARED = `${ofPet(spreads(99))} ${fragments(99, () => 'category { id } '.repeat(8))}`;

const REFUSED: [what: string, query: string, message: string | RegExp, code?: string | RegExp][] = [
  ['tokens', `{ ${'pet(id: 1) { id } '.repeat(1000)} }`, 'The document has more than 5000 tokens.', UNPARSED],
  ['open braces', '{'.repeat(90_000), 'Syntax Error', UNPARSED],
  ['nested selections', ofPet(PAGES), 'The operation is 23 levels deep; at most 20 are'],
  ['nested inline fragments', `{ ${nested(1200, '... { ', '__typename')} }`, 'is 1201 levels deep; at most 20 are'],
  [
    'nested objects',
    `{ pets(filter: ${nested(1200, '{ ids: ', '1')}) { totalCount } }`,
    'A value is 1200 levels deep;',
  ],
  ['nested lists', `{ pet(id: ${nested(2400, '[', '', ']')}) { id } }`, /too deep|levels deep/, /COMPLEX|PARSE/],
  [
    'nested types',
    `query ($v: ${nested(2000, '[', 'Int', ']')}) { __typename }`,
    'A type is 2000 levels deep; at most',
  ],
  ['fields', ofPet('id '.repeat(4900)), 'The operation has 4901 fields; at most 2000 are allowed.'],
  ['repetitions of a field', ofPet('id '.repeat(1900)), 'selects "id" 1900 times in one place; at most 50 are'],
  [
    'repetitions of nested fields',
    ofPet('category { pets { nodes { id } } } '.repeat(350)),
    'selects "category" 350 times in one place; at most 50 are',
  ],
  ['root fields', `{ ${'__typename '.repeat(500)} }`, 'The operation has 500 root fields; at most 100 are allowed.'],
  [
    'root fields in fragments',
    `{ ${'...F '.repeat(51)} } fragment F on Query { __typename ... { __typename } }`,
    'has 102 root fields; at most 100 are',
  ],
  ['aliases', ofPet(times(101, (i) => `a${i}: id`)), 'The operation has 101 aliases; at most 100 are allowed.'],
  ['aliases, as many as fit', ofPet(times(1660, (i) => `a${i}: id`)), 'has 1660 aliases; at most 100 are'],
  [
    'aliases in fragments',
    `{ ${times(5, (i) => `a${i}: pet(id: 1) { ...F0 }`)} } ${fragments(1, () => times(20, (i) => `b${i}: id`))}`,
    'The operation has 105 aliases; at most 100 are',
  ],
  ['characters in an alias', ofPet(`${'x'.repeat(65)}: id`), 'An alias has 65 characters; at most 64 are allowed.'],
  [
    'characters in the aliases of introspection',
    `{ ${times(48, (i) => `p${i}: __schema { types { ...F } }`)} } fragment F on __Type { ${LONG_ALIASES} }`,
    'has 1872 aliases; at most 100 are',
  ],
  ['counts', `{ category(id: 1) { ${COUNTS} } }`, 'estimated cost of 128001; at most 50000 is allowed'],
  ['rows', `{ ${ROWS} }`, 'estimated cost of 2212120; at most 50000 is allowed'],
  ['directives', ofPet(times(51, () => 'id @include(if: true)')), 'The document has 51 directives; at most 50 are'],
  [
    'directives on one field',
    `{ __typename ${'@skip(if: false) '.repeat(6)} }`,
    'One place has 6 directives; at most 5',
  ],
  ['unknown directives', `{ __typename ${'@a'.repeat(2400)} }`, 'The document has 2400 directives; at most 50 are'],
  ['fragments', `${ofPet(spreads(500))} ${fragments(500, () => 'id')}`, 'The document has 500 fragments; at most 100'],
  ['fragments that multiply', doubling(12), 'The operation has 12287 fields; at most 2000 are allowed.'],
  ['fragments that multiply without end', doubling(150), 'levels deep'],
  ['fragments in a cycle', circle(2, 1), 'Cannot spread fragment "F0" within itself.', INVALID],
  ['fragments in many cycles', circle(90, 20), 'Cannot spread fragment', INVALID],
  ['fragments to compare with each other', COMPARED, 'selects "category" 792 times in one place; at most 50 are'],
  ['operations', `${times(700, (i) => `query q${i} { a }`)}`, 'Cannot query field "a"', INVALID],
  ['variables', `query (${times(1200, (i) => `$v${i}: Int`)}) { __typename }`, 'never used', INVALID],
  ['unknown fields', ofPet(times(1900, (i) => `x${i}`)), 'Cannot query field "x0"', INVALID],
  ['unknown arguments', `{ pet(id: 1, ${times(1200, (i) => `x${i}: 1`)}) { id } }`, 'Unknown argument', INVALID],
  ['characters in a name', ofPet('x'.repeat(100_000)), 'Cannot query field', INVALID],
  ['lines in a string', `{ pet(id: """${'\n'.repeat(50_000)}""") { id } }`, 'ID', 'BAD_USER_INPUT'],
  ['cycles in introspection', `{ ${CYCLE} }`, 'Maximum introspection depth exceeded', INVALID],
  ['introspections at once', introspections(12), 'The operation has 2640 fields; at most 2000 are allowed.'],
];

test.each(REFUSED)(
  'too many %s: the whole document is refused, within 50 ms of CPU',
  async (_what, query, message, code = COMPLEX) => {
    // Other work of the process counts too: the best of a few tries shows what the refusal costs.
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 10 && best >= 50; i++) {
      const started = process.cpuUsage();
      const { status, errors, data } = await gateway.graphql(query);
      const { user, system } = process.cpuUsage(started);
      best = Math.min(best, (user + system) / 1000);
      expect([status, data]).toEqual([400, undefined]);
      expect(errors[0]?.extensions?.code).toMatch(code);
      expect(errors[0]?.message).toMatch(message);
      expect(errors.length).toBeLessThan(22);
    }
    expect(best).toBeLessThan(50);
  },
);

test('the introspection query of tools is within the limits', async () => {
  const query = getIntrospectionQuery({
    inputValueDeprecation: true,
    specifiedByUrl: true,
    schemaDescription: true,
    directiveIsRepeatable: true,
    oneOf: true,
  });
  const { status, errors } = await gateway.graphql(query);
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
});

test('a refused document is refused again, however it is sent', async () => {
  const query = `{ ${'__typename '.repeat(101)} }`;
  for (const send of ['POST', 'GET', 'POST', 'GET'] as const) {
    const response = await gateway.app.inject({
      method: send,
      url: '/graphql',
      headers: { 'content-type': 'application/json' },
      ...(send === 'GET' ? { query: { query } } : { payload: { query } }),
    });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions.code).toBe(COMPLEX);
  }
});

describe('the limits are configurable:', () => {
  let strict: Gateway;
  beforeAll(async () => {
    const names = ['FIELDS', 'TOKENS', 'DEPTH', 'ROOT_FIELDS', 'ALIASES', 'FRAGMENTS', 'REPEATS', 'DIRECTIVES'];
    const values = ['10', '100', '5', '2', '1', '0', '3', '2'];
    strict = await gateway.another({
      ...Object.fromEntries(names.map((name, i) => [`GRAPHQL_MAX_${name}`, values[i] ?? ''])),
      GRAPHQL_MAX_DIRECTIVES_AT_ONCE: '1',
      GRAPHQL_MAX_ERRORS: '2',
      GRAPHQL_MAX_COST: '100',
    });
  });
  afterAll(() => strict.close());

  test.each<[string, ...string[]]>([
    ['{ pets { nodes { id } } }'],
    [`{ pet(id: 1) { ${'id '.repeat(100)} } }`, 'The document has more than 100 tokens.'],
    [
      '{ pets { nodes { category { pets { nodes { id } } } } } }',
      'The operation is 6 levels deep; at most 5 are allowed.',
    ],
    [`{ pet(id: 1) { ${'id '.repeat(10)} } }`, 'The operation has 11 fields; at most 10 are allowed.'],
    ['{ __typename __typename __typename }', 'The operation has 3 root fields; at most 2 are allowed.'],
    ['{ a: __typename b: __typename }', 'The operation has 2 aliases; at most 1 are allowed.'],
    ['{ ...F } fragment F on Query { __typename }', 'The document has 1 fragments; at most 0 are allowed.'],
    [
      '{ pet(id: 1) { id id ... { id id } } }',
      'The operation selects "id" 4 times in one place; at most 3 are allowed.',
    ],
    ['{ __typename @skip(if: false) @include(if: true) }', 'One place has 2 directives; at most 1 are allowed.'],
    [
      '{ ... @skip(if: false) { ... @skip(if: false) { __typename @skip(if: false) } } }',
      'The document has 3 directives; at most 2 are allowed.',
    ],
    [
      '{ pets { nodes { id name status categoryId } } }',
      expect.stringContaining('an estimated cost of 120; at most 100 is allowed'),
    ],
    [
      '{ pet(id: 1) { a b c } }',
      'Cannot query field "a" on type "Pet".',
      'Cannot query field "b" on type "Pet".',
      'Too many validation errors, error limit reached. Validation aborted.',
    ],
  ])('%s', async (query, ...messages) => {
    expect((await strict.graphql(query)).errors.map(({ message }) => message)).toEqual(messages);
  });
});
