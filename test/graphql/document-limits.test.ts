import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { type Gateway, startGateway } from '../helper/gateway';
import { startToys } from '../toys/gateway';

let gateway: Gateway;
let petstore: Gateway;
beforeAll(async () => {
  gateway = await startToys();
  petstore = await startGateway();
});
afterAll(async () => {
  await petstore.close();
  await gateway.close();
});

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** A query with this selection on a toy. */
const ofToy = (selection: string) => `{ toy(id: 1) { ${selection} } }`;
const nested = (count: number, open: string, inside: string, close = '}') =>
  open.repeat(count) + inside + close.repeat(count);
const fragments = (count: number, body: (index: number) => string) =>
  times(count, (i) => `fragment F${i} on Toy { ${body(i)} }`);
const spreads = (count: number) => times(count, (i) => `...F${i}`);

/** Each fragment spreads the next fragment twice, so the number of fields doubles with each level. */
const doubling = (levels: number) =>
  `${ofToy('...F0')} ${fragments(levels, (i) => `...F${i + 1} box { id } ... on Toy { ...F${i + 1} }`)}
  fragment F${levels} on Toy { id }`;

/** A cycle of `size` fragments. Each fragment spreads the next `ways` fragments. */
const circle = (size: number, ways: number) =>
  `${ofToy('...F0')} ${fragments(size, (i) => times(ways, (j) => `...F${(i + j + 1) % size}`))}`;

/** The standard introspection query, `count` times in one operation. */
function introspections(count: number): string {
  const [head = '', ...fragments] = getIntrospectionQuery().split(/(?=fragment )/);
  const schema = head.slice(head.indexOf('__schema'), head.lastIndexOf('}'));
  return `{ ${times(count, (i) => `s${i}: ${schema}`)} } ${fragments.join('')}`;
}

const COMPLEX = 'OPERATION_TOO_COMPLEX';
const INVALID = 'GRAPHQL_VALIDATION_FAILED';
const UNPARSED = 'GRAPHQL_PARSE_FAILED';

const PAGES = nested(7, 'box { toys { nodes { ', 'id', '} } }');
const COUNTS = times(100, (i) => `a${i}: toys(filter: { name: "0" }) { totalCount }`);
const ROWS = 'boxes(first: 100) { nodes { toys(first: 100) { nodes { box { toys(first: 100) { nodes { id } } } } } } }';
const CYCLE = '__schema { types { fields { type { fields { type { fields { type { name } } } } } } } }';
const COMPARED = `${ofToy(spreads(99))} ${fragments(99, () => 'box { id } '.repeat(8))}`;

/** A selection with this number of fields that use no quota. */
const FREE = (fields: number) => `__schema { queryType { ${times(fields - 2, (i) => `a${i}: name`)} } }`;

const REPEATED = 'The document repeats fields or fragments too often to be validated.';

const REJECTED: [what: string, query: string, message: string | RegExp, code?: string | RegExp][] = [
  ['tokens', `{ ${'toy(id: 1) { id } '.repeat(1000)} }`, 'The document has more than 5000 tokens.', UNPARSED],
  ['open braces', '{'.repeat(90_000), 'Syntax Error', UNPARSED],
  ['nested selections', ofToy(PAGES), 'The operation is 23 levels deep; at most 20 are'],
  ['nested inline fragments', `{ ${nested(1200, '... { ', '__typename')} }`, 'is 1201 levels deep; at most 20 are'],
  [
    'nested objects',
    `{ toys(filter: ${nested(1200, '{ ids: ', '1')}) { totalCount } }`,
    'must be an integer',
    'BAD_USER_INPUT',
  ],
  [
    'nested lists',
    `{ toy(id: ${nested(2400, '[', '', ']')}) { id } }`,
    /too deep|must be an integer/,
    /BAD_USER_INPUT|PARSE/,
  ],
  ['nested types', `query ($v: ${nested(2000, '[', 'Int', ']')}) { __typename }`, 'never used', INVALID],
  ['fields', ofToy('id '.repeat(4900)), 'The operation has 4901 fields; at most 2000 are allowed.'],
  ['root fields', `{ ${'__typename '.repeat(500)} }`, 'The operation has 500 root fields; at most 100 are allowed.'],
  [
    'root fields in fragments',
    `{ ${'...F '.repeat(51)} } fragment F on Query { __typename ... { __typename } }`,
    'has 102 root fields; at most 100 are',
  ],
  ['counts', `{ box(id: 1) { ${COUNTS} } }`, 'estimated cost of 128020; at most 50000 is allowed'],
  ['rows', `{ ${ROWS} }`, 'estimated cost of 2222120; at most 50000 is allowed'],
  ['unknown directives', `{ __typename ${'@a'.repeat(2400)} }`, 'Unknown directive "@a"', INVALID],
  ['fragments that multiply', doubling(12), 'The operation has 12287 fields; at most 2000 are allowed.'],
  ['fragments that multiply over 150 levels', doubling(150), 'levels deep'],
  ['fragments in a cycle', circle(2, 1), 'Cannot spread fragment "F0" within itself', INVALID],
  ['fragments in many cycles', circle(90, 20), 'Cannot spread fragment', INVALID],
  ['operations', `${times(700, (i) => `query q${i} { a }`)}`, 'Cannot query field "a"', INVALID],
  ['variables', `query (${times(1200, (i) => `$v${i}: Int`)}) { __typename }`, 'never used', INVALID],
  ['unknown fields', ofToy(times(1900, (i) => `x${i}`)), 'Cannot query field "x0"', INVALID],
  ['unknown arguments', `{ toy(id: 1, ${times(1200, (i) => `x${i}: 1`)}) { id } }`, 'Unknown argument', INVALID],
  ['characters in a name', ofToy('x'.repeat(100_000)), 'Cannot query field', INVALID],
  ['lines in a string', `{ toy(id: """${'\n'.repeat(50_000)}""") { id } }`, 'must be an integer', 'BAD_USER_INPUT'],
  ['cycles in introspection', `{ ${CYCLE} }`, 'Maximum introspection depth exceeded', INVALID],
  ['introspections at once', introspections(12), 'The operation uses no quota and has 2640 fields; at most 500 are'],
  ['fields that use no quota', `{ ${FREE(501)} }`, 'The operation uses no quota and has 501 fields; at most 500 are'],
  [
    'fields that use no quota, in a fragment',
    `{ ... { ...F } } fragment F on Query { ${FREE(501)} }`,
    'The operation uses no quota and has 501 fields; at most 500 are',
  ],
  ['repetitions of a field', ofToy('id '.repeat(1900)), REPEATED, INVALID],
  ['repetitions of nested fields', ofToy('box { toys { nodes { id } } } '.repeat(350)), REPEATED, INVALID],
  ['repetitions in inline fragments', ofToy('... { box { toys { nodes { id } } } } '.repeat(330)), REPEATED, INVALID],
  ['fragments', `${ofToy(spreads(500))} ${fragments(500, () => 'id')}`, REPEATED, INVALID],
  ['fragments to compare with each other', COMPARED, REPEATED, INVALID],
];

const ofPets = (selection: string) => `{ pets(first: 1) { nodes { ${selection} } } }`;
/** The fields are not executed, so that only their validation is measured. */
const unrun = (selection: string) => `{ __typename pet(id: 1) @skip(if: true) { ${selection} } }`;

/** Valid documents that are costly to validate. */
const ALLOWED: [what: string, query: string, of: () => Gateway, variables?: object][] = [
  ['aliases', ofToy(times(1660, (i) => `a${i}: id`)), () => gateway],
  ['directives', ofToy(times(490, () => 'id @include(if: true)')), () => gateway],
  ['free fields', `{ ${FREE(500)} }`, () => gateway],
  ['free fields beside a field that uses quota', `{ toy(id: 1) { id } ${FREE(600)} }`, () => gateway],
  ['equal relations', ofPets('category { id } '.repeat(380)), () => petstore],
  [
    'fragments with different fields',
    `${ofPets(spreads(99))} ${times(99, (i) => `fragment F${i} on Pet { ${times(13, (j) => `f${i}_${j}: name`)} }`)}`,
    () => petstore,
  ],
  ['aliases of the petstore', ofPets(times(1660, (i) => `a${i}: name`)), () => petstore],
  [
    'aliases with arguments',
    unrun(times(440, (i) => `a${i}: orders(first: ${1 + (i % 100)}) { totalCount }`)),
    () => petstore,
  ],
  [
    'variables',
    `query (${times(400, (i) => `$v${i}: ID!`)}) { ${times(4, (i) => `p${i}: pets(filter: { ids: [${times(100, (j) => `$v${100 * i + j}`)}] }) { nodes { id } }`)} }`,
    () => petstore,
    Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`v${i}`, String(i + 1)])),
  ],
];

/**
 * The CPU time of the gateway for a document, in milliseconds. A measurement includes other work of the process, so this
 * function returns the lowest of up to ten measurements.
 */
async function cpuOf(
  query: string,
  check: (answer: Awaited<ReturnType<Gateway['graphql']>>) => void,
  of = gateway,
  variables?: object,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 10 && best >= MAX_CPU; i++) {
    const started = process.cpuUsage();
    // A document that is known is not parsed again.
    const answer = await of.graphql(`${query} # ${Math.random()}`, variables);
    const { user, system } = process.cpuUsage(started);
    best = Math.min(best, (user + system) / 1000);
    check(answer);
  }
  return best;
}
/** As docs/bounds.md promises. Without the limits, a document takes seconds. */
const MAX_CPU = 150;

/**
 * The allowed CPU time of a document that took `cpu`, in milliseconds: {@link MAX_CPU}, or on a slow or busy machine ten times the
 * CPU time of a fixed validation by graphql-js.
 */
function allowedFor(cpu: number): number {
  if (cpu < MAX_CPU) return MAX_CPU;
  const schema = buildSchema('type Query { a: Query b: Int }');
  const document = parse(`{ ${'a { b } '.repeat(300)} }`);
  const times = Array.from({ length: 9 }, () => {
    const started = process.cpuUsage();
    validate(schema, document);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  return Math.max(MAX_CPU, 10 * Number(times[4]));
}

test.each(REJECTED)(
  `a document with too many %s is rejected within ${MAX_CPU} ms of CPU time`,
  async (_what, query, message, code = COMPLEX) => {
    const cpu = await cpuOf(query, ({ status, errors, data }) => {
      expect([status, data]).toEqual([400, undefined]);
      expect(errors.map(({ extensions }) => extensions?.code)).toContainEqual(expect.stringMatching(code));
      expect(errors.map((error) => error.message)).toContainEqual(expect.stringMatching(message));
      expect(errors.length).toBeLessThan(22);
    });
    expect(cpu).toBeLessThan(allowedFor(cpu));
  },
);

test.each(ALLOWED)(
  `a valid document with many %s takes at most ${MAX_CPU} ms of CPU time`,
  async (...[, query, of, variables]) => {
    const check = ({ status, errors }: { status: number; errors: readonly unknown[] }) =>
      expect([status, errors]).toEqual([200, []]);
    const cpu = await cpuOf(query, check, of(), variables);
    expect(cpu).toBeLessThan(allowedFor(cpu));
  },
);

test('the standard introspection query is within the limits', async () => {
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

test('a rejected document is rejected each time, over POST and over GET', async () => {
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
    strict = await gateway.another({ GRAPHQL_MAX_TOKENS: '100', GRAPHQL_MAX_DEPTH: '5', GRAPHQL_MAX_COST: '100' });
  });
  afterAll(() => strict.close());

  test.each<[string, ...string[]]>([
    ['{ toys { nodes { id } } }'],
    [`{ toy(id: 1) { ${'id '.repeat(100)} } }`, 'The document has more than 100 tokens.'],
    ['{ toys { nodes { box { toys { nodes { id } } } } } }', 'The operation is 6 levels deep; at most 5 are allowed.'],
    [
      '{ toys { nodes { id name broken boxId } } }',
      expect.stringContaining('an estimated cost of 120; at most 100 is allowed'),
    ],
  ])('%s', async (query, ...messages) => {
    expect((await strict.graphql(query)).errors.map(({ message }) => message)).toEqual(messages);
  });
});

test('at most 20 errors of a document are reported', async () => {
  const { errors } = await gateway.graphql(ofToy(times(30, (i) => `x${i}`)));
  expect(errors).toHaveLength(21);
  expect(errors[20]?.message).toBe('Too many validation errors, error limit reached. Validation aborted.');
});
