import { getIntrospectionQuery } from 'graphql';
import type { Scenario } from '../scenario';

const PET = 'query ($id: ID!) { pet(id: $id) { id name } }';
const PETS =
  'query ($filter: PetFilter, $sort: PetSort, $first: Int) { pets(filter: $filter, orderBy: $sort, first: $first) { nodes { id } } }';
const LISTS =
  'query ($ids: [ID!], $statuses: [PetStatus!] = [sold], $name: String = "T", $id: ID = 7) { pets(filter: { ids: $ids, statuses: $statuses, name: $name }) { nodes { id } } orders(filter: { petIds: [1, $id] }) { nodes { id } } }';

const VARIABLES: [query: string, variables?: unknown][] = [
  [PET, { id: 1 }],
  [PET, { id: '1' }],
  [PET, { id: '9223372036854775807' }],
  [PET, { id: 9007199254740991 }],
  [PET, { id: 9007199254740992 }],
  [PET],
  [PET, {}],
  [PET, { id: null }],
  [PET, { id: 1.5 }],
  [PET, { id: true }],
  [PET, { id: [1] }],
  [PET, { id: { id: 1 } }],
  [PET, { id: '' }],
  [PET, { id: 1, other: 2, __proto: null }],
  [PETS, { filter: { ids: 3 } }],
  [PETS, { filter: { ids: [3, '1'], statuses: 'sold' } }],
  [
    PETS,
    { filter: { ids: [1, 0, '2', 'x'], categoryIds: ['9223372036854775808'], statuses: ['Sold', 'available', null] } },
  ],
  [PETS, { filter: { name: 5, ids: 'x', other: 1 }, sort: { field: 'name', direction: 'UP' }, first: '1' }],
  [PETS, { sort: { field: 'NAME', direction: 'DESC' }, first: 3 }],
  [PETS, { sort: { field: null } }],
  [PETS, { sort: {}, first: null, filter: {} }],
  [PETS, { first: 2147483648 }],
  [PETS, { first: 1.5 }],
  [PETS, { first: 3.0 }],
  [PETS, { filter: 'x', sort: [] }],
  [PETS, { filter: [{ ids: [1] }] }],
  [LISTS],
  [LISTS, { ids: [3, 6, 7], statuses: null, name: null, id: 6 }],
  [LISTS, { ids: 6 }],
  [
    'query ($d: SortDirection! = DESC) { pets(first: 2, orderBy: { field: NAME, direction: $d }) { nodes { name } } }',
    { d: 'ASC' },
  ],
  ['query ($d: SortDirection = DESC) { pets(first: 2, orderBy: { direction: $d }) { nodes { id } } }'],
  ['query ($d: SortDirection = DESC) { pets(first: 2, orderBy: { direction: $d }) { nodes { id } } }', { d: null }],
  ['query ($n: Int = 0) { pets(first: $n) { nodes { id } } }'],
  ['query ($n: Int = "x") { pets(first: $n) { nodes { id } } }'],
  ['query ($id: ID = 0) { pet(id: 1) { orders(filter: { ids: [$id] }) { nodes { id } } } }', { id: 1 }],
];

const INVALID: [query: string, operationName?: string][] = [
  [''],
  ['   '],
  ['# nothing\n'],
  ['{'],
  ['{}'],
  ['{ pet(id: 1) }'],
  ['{ pet(id: 1) { } }'],
  ['{ pet(id: 1) { id } } }'],
  ['{ pet(id: "1) { id } }'],
  ['{ pets(first: 01) { totalCount } }'],
  ['query { pet(id: 1) { na\u0007me } }'],
  ['{ pet(id: 1) { "name" } }'],
  ['{ pet(id: 1) { id { x } name { y } category } }'],
  ['{ pet(id: 1) { nam categry { id } } pett(id: 1) { id } }'],
  ['{ pet(ID: 1) { id } pets(frist: 1, ordrBy: {}) { totalCount } }'],
  ['{ pets(filter: { nam: "x", status: sold }, orderBy: { field: NAMES }) { nodes { id } } }'],
  ['query ($a: Int) { pet(id: 1) { id } }'],
  ['{ pet(id: $id) { id } }'],
  ['query ($id: Int!) { pet(id: $id) { id } }'],
  ['query ($id: ID) { pet(id: $id) { id } }'],
  ['query ($id: Petz!) { pet(id: $id) { id } }'],
  ['query ($id: Pet!) { pet(id: $id) { id } }'],
  ['query ($id: ID!, $id: ID!) { pet(id: $id) { id } }'],
  ['{ pet(id: 1, id: 2) { id } }'],
  ['{ pet(id: 1) { id } } fragment F on Pet { name }'],
  ['{ pet(id: 1) { ...G } }'],
  ['{ pet(id: 1) { ...F } } fragment F on Category { name }'],
  ['{ pet(id: 1) { ...F } } fragment F on Dog { name }'],
  ['{ pet(id: 1) { ...F } } fragment F on ID { name }'],
  ['{ pet(id: 1) { ...F } } fragment F on Pet { name ...F }'],
  [
    '{ pet(id: 1) { ...F } } fragment F on Pet { name ...G } fragment G on Pet { category { pets { nodes { ...F } } } }',
  ],
  ['{ pet(id: 1) { ...F } } fragment F on Pet { name } fragment F on Pet { id }'],
  ['{ pet(id: 1) { x: id x: name } }'],
  ['{ x: pet(id: 1) { id } x: pet(id: 2) { id } }'],
  ['{ pet(id: 1) { orders(first: 1) { totalCount } orders(first: 2) { totalCount } } }'],
  ['{ pet(id: 1) @include { id } }'],
  ['{ pet(id: 1) @skip(if: "yes") { id } }'],
  ['{ pet(id: 1) @defer { id } }'],
  ['query @skip(if: true) { pet(id: 1) { id } }'],
  ['{ pet(id: 1) @skip(if: false) @skip(if: false) { id } }'],
  ['{ a: __typename } { b: __typename }'],
  ['query A { __typename } query A { __typename }'],
  ['query A { __typename } query B { t: __typename }'],
  ['query A { __typename } query B { t: __typename }', 'B'],
  ['query A { __typename } query B { t: __typename }', 'C'],
  ['query A { __typename } mutation B { __typename }', 'A'],
  ['query A { __typename }', ''],
  ['query A { __typename }', 'a'],
  ['query A { __typename } query B { missing }', 'A'],
  ['{ __typename }', 'A'],
  ['fragment F on Pet { id }'],
  ['type Pet { id: ID }'],
  ['{ __typename } extend type Pet { x: Int }'],
  ['subscription { petChanged { kind } }'],
  ['subscription { petChanged { kind } orderChanged { kind } }'],
  [`{ ${Array.from({ length: 25 }, (_, i) => `unknown${i}`).join(' ')} }`],
  ['mutation { createPet(input: { name: 1, categoryId: "x", status: AVAILABLE, id: 1 }) { id } }'],
  ['mutation { placeOrder(input: { shipDate: "2023-02-30T00:00:00Z", quantity: 2147483648, complete: 1 }) { id } }'],
  ['mutation { createPet { id } }'],
];

const nested = (levels: number) =>
  `{ pet(id: 1) { ${'category { pets(first: 1) { nodes { '.repeat(levels)} id ${'} } }'.repeat(levels)} } }`;
const aliased = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');

const LARGE: [title: string, query: string][] = [
  ['as many tokens as allowed', `{ pets(filter: { ids: [${'1 '.repeat(4981)}] }) { nodes { id } } }`],
  ['one token too many', `{ pets(filter: { ids: [${'1 '.repeat(4982)}] }) { nodes { id } } }`],
  ['the maximum number of levels', nested(5)],
  ['too many levels', nested(8)],
  ['too many levels of inline fragments', `{ ${'... { '.repeat(30)} __typename ${'}'.repeat(30)} }`],
  ['too many levels of a value', `{ pets(filter: { ids: ${'['.repeat(30)}1${']'.repeat(30)} }) { totalCount } }`],
  ['too many levels of a type', `query ($a: ${'['.repeat(30)}Int${']'.repeat(30)}) { pets { totalCount } }`],
  ['counts of searches', `{ category(id: 1) { ${aliased(60, 'pets(filter: { name: "o" }) { totalCount }')} } }`],
  [
    'lists in lists in lists',
    '{ categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } } }',
  ],
  ['pages of descriptions', `{ ${aliased(50, 'categories(first: 100) { nodes { description } }')} }`],
  ['expensive, but allowed', '{ categories(first: 100) { nodes { pets(first: 100) { nodes { name status } } } } }'],
  ['a huge alias', `{ pets(first: 100) { nodes { ${'x'.repeat(9000)}: id } } }`],
  [
    'an operation that uses no quota',
    `{ ${aliased(20, '__schema { types { fields { name args { name type { name } } type { name ofType { name ofType { name } } } } } }')} }`,
  ],
  ['circular introspection', `{ __schema { types { ${'fields { type { '.repeat(8)} name ${'} }'.repeat(8)} } } }`],
  ['more requests than a minute has', `{ ${aliased(61, 'pet(id: 1) { id }')} }`],
];

const INTROSPECTION = [
  '{ __schema { queryType { name } mutationType { name } subscriptionType { name } } }',
  '{ __type(name: "Query") { kind fields { name type { kind name ofType { name } } args { name defaultValue type { kind name ofType { kind name ofType { kind name ofType { name } } } } } } } }',
  '{ __type(name: "Mutation") { fields { name type { kind name } args { name defaultValue type { kind ofType { name } } } } } }',
  '{ __type(name: "Subscription") { fields { name type { kind ofType { name } } args { name type { name } } } } }',
  '{ __type(name: "Pet") { kind name interfaces { name } fields(includeDeprecated: true) { name isDeprecated deprecationReason type { kind name ofType { kind name } } args { name } } possibleTypes { name } inputFields { name } enumValues { name } } }',
  '{ __type(name: "Node") { kind fields { name } possibleTypes { name } } Order: __type(name: "Order") { fields { name type { kind name ofType { name } } } } InventoryItem: __type(name: "InventoryItem") { fields { name type { kind name ofType { name } } } } Category: __type(name: "Category") { fields { name type { kind name ofType { name } } } } }',
  '{ __type(name: "PetConnection") { fields { name type { kind ofType { kind name ofType { kind ofType { name } } } } } } PageInfo: __type(name: "PageInfo") { fields { name } } PetEdge: __type(name: "PetEdge") { fields { name } } }',
  '{ filter: __type(name: "PetFilter") { inputFields { name defaultValue type { kind name ofType { kind ofType { name } } } } } sort: __type(name: "OrderSort") { inputFields { name defaultValue type { kind ofType { name } } } } new: __type(name: "NewPet") { inputFields { name type { kind name ofType { name } } } } update: __type(name: "OrderUpdate") { inputFields { name type { kind name } } } }',
  '{ __type(name: "PetStatus") { kind enumValues(includeDeprecated: true) { name isDeprecated } } sorts: __type(name: "InventorySortField") { enumValues { name } } codes: __type(name: "ErrorCode") { enumValues { name } } plans: __type(name: "Plan") { enumValues { name } } kinds: __type(name: "ChangeKind") { enumValues { name } } }',
  '{ __type(name: "DateTime") { kind name specifiedByURL } id: __type(name: "ID") { kind specifiedByURL } none: __type(name: "Dog") { name } }',
  '{ __type(name: "RateLimit") { fields { name type { kind ofType { kind name } } } } viewer: __type(name: "Viewer") { fields { name args { name defaultValue } } } window: __type(name: "RateLimitWindow") { fields { name } } }',
  '{ __type(name: "Pet") { description fields { name description } } }',
  '{ __type { name } }',
  '{ pet(id: 1) { __schema { types { name } } } }',
  '{ __schema { queryType { name } } pet(id: 1) { name } }',
  '{ _service { sdl } _entities(representations: []) { __typename } }',
];

interface Directive {
  readonly name: string;
  readonly locations: readonly string[];
  readonly args: readonly { name: string }[];
}

function signature({ name, args, locations }: Directive): string {
  return `@${name}(${args.map((argument) => argument.name)}) on ${locations}`;
}

export const scenarios: Scenario[] = [
  {
    name: 'graphql documents',
    run: async (net) => {
      await net.shop();
      for (const [query, variables] of VARIABLES) await net.graphql(query, variables as object | undefined);
      for (const [query, operationName] of INVALID)
        await net.rest('POST /graphql', { body: { query, ...(operationName !== undefined && { operationName }) } });
    },
  },
  {
    name: 'graphql large documents',
    once: true,
    run: async (net) => {
      await net.shop();
      for (const [title, query] of LARGE)
        await net.graphql(query, undefined, {
          title,
          ...(title.startsWith('more requests') && { as: net.anonymous() }),
        });
    },
  },
  {
    name: 'graphql small limits',
    once: true,
    settings: { GRAPHQL_MAX_TOKENS: '100', GRAPHQL_MAX_DEPTH: '5', GRAPHQL_MAX_COST: '300' },
    run: async (net) => {
      for (const query of [
        '{ pets(first: 93) { nodes { id name } } }',
        '{ pets(first: 94) { nodes { id name } } }',
        '{ pets(first: 94) { nodes { id name @skip(if: true) } } }',
        'query ($n: Int!, $no: Boolean!) { pets(first: $n) { nodes { id name @skip(if: $no) } } }',
        '{ pets { totalCount } }',
        '{ pets { totalCount totalCountRelation } }',
        '{ pets(filter: { name: "x" }) { nodes { id } } }',
        '{ pet(id: 1) { category { pets { totalCount } } } }',
        '{ pet(id: 1) { category { pets(first: 1) { nodes { id } } } } }',
        '{ pet(id: 1) { category { pets(first: 1) { nodes { category { id } } } } } }',
        `{ ${'__typename '.repeat(48)} }`,
        `{ pet(id: 1) { ${'id '.repeat(30)} } ${' # a comment\n'.repeat(100)} }`,
        `{ ${aliased(40, '__typename')} }`,
        '{ __type(name: "Pet") { name kind } }',
        '{ __schema { types { name kind fields { name type { name } } } } }',
      ])
        await net.graphql(query, query.includes('$n') ? { n: 100, no: true } : undefined);
      await net.graphql('query ($n: Int!, $no: Boolean!) { pets(first: $n) { nodes { id name @skip(if: $no) } } }', {
        n: 100,
        no: false,
      });
    },
  },
  {
    name: 'graphql introspection',
    once: true,
    run: async (net) => {
      for (const query of INTROSPECTION) await net.graphql(query);
      await net.graphql('{ __schema { queryType { name } } }', undefined, { as: net.anonymous() });
      const { status, headers, json } = await net.exchange('POST', '/graphql', {
        body: { query: getIntrospectionQuery() },
      });
      const { types, directives } = json.data.__schema;
      net.note('the introspection query of tools', [
        `${status} ${headers['content-type']}`,
        ...types.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`).sort(),
        ...directives.map(signature).sort(),
      ]);
    },
  },
];
