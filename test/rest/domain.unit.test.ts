import { buildSchema, type SchemaParts } from '../../src/graphql/schema';
import { combineDomains, type Domain } from '../../src/rest/domain';
import { createToys, TOYS as TABLE, toyDomains } from '../toys/toys';

const TOYS = createToys();
const OTHER: Domain = {
  ...TOYS,
  name: 'other',
  routes: [],
  tags: {},
  errors: {},
  tables: [],
  topics: {},
  descriptions: undefined,
};

const SAMPLES: Domain['samples'] = { what: 'toys', unit: 'toys', default: 1, max: 9, load: async () => ({}) };

test('combineDomains merges the resolvers, operations, topics and errors of all domains', () => {
  const { description, resolvers, rest, errors, topics } = combineDomains([TOYS, OTHER]);
  expect([description, rest.title, resolvers.length]).toEqual(['Toys.', 'Toys', 2]);
  expect(rest.routes).toEqual(TOYS.routes);
  expect(topics).toEqual({ toy: TABLE });
  expect([errors.get('TOY_BROKEN')?.status, errors.get('NOT_FOUND')?.status]).toEqual([409, 404]);
});

test.each<[string, Domain[]]>([
  ['no domain has descriptions', [OTHER]],
  ['the domains toys and other both have descriptions', [TOYS, { ...OTHER, descriptions: TOYS.descriptions }]],
  ['the domain other has no resolvers', [TOYS, { ...OTHER, resolvers: [] }]],
  [
    'the domain toys has no tag for the paths /toys (GET /toys); the domain other has no resolvers',
    [
      { ...TOYS, tags: {}, routes: TOYS.routes.slice(0, 1) },
      { ...OTHER, resolvers: [] },
    ],
  ],
  ['the domains toys and other both have the tag toys', [TOYS, { ...OTHER, tags: TOYS.tags }]],
  ['the domains toys and other both have the error code TOY_BROKEN', [TOYS, { ...OTHER, errors: TOYS.errors }]],
  ['the domains toys and other both have the topic toy', [TOYS, { ...OTHER, topics: TOYS.topics }]],
  [
    'the domains toys and other both have samples',
    [
      { ...TOYS, samples: SAMPLES },
      { ...OTHER, samples: SAMPLES },
    ],
  ],
  [
    "the domain toys has the error code NOT_FOUND, which is the gateway's",
    [{ ...TOYS, errors: { NOT_FOUND: TOYS.errors.TOY_BROKEN as Domain['errors'][string] } }],
  ],
])('startup fails if the domains are incomplete or contradict each other: %s', (message, domains) => {
  expect(() => combineDomains(domains)).toThrow(message);
});

test('startup fails if SUBGRAPH is set but no domain can be a subgraph', () => {
  const { buildSubgraph } = combineDomains([TOYS]);
  expect(() => buildSubgraph({} as SchemaParts)).toThrow('SUBGRAPH is set, but no domain has buildSubgraph');
});

describe('startup fails with an error that names the element missing in the schema or in a domain:', () => {
  const domains = toyDomains();
  const building = (changed: object) => () => buildSchema({ ...domains, subscribe: jest.fn(), ...changed });

  test.each<[string, object]>([
    ['the table toys has no filter name, which Query.toys offers', { filters: {} }],
    ['the table toys has no order NAME, which Query.toys offers', { orders: { ID: TABLE.orders.ID } }],
    ['the schema has no object type Doll, which the table toys names', { type: 'Doll' }],
    ['the type Toy has no field maker, which the table toys has', { relations: { maker: {} } }],
    ['the type Toy has no field parts, which the table toys has', { pages: { parts: {} } }],
  ])('%s', (message, changed) => {
    expect(building({ tables: [{ ...TABLE, ...changed }] })).toThrow(message);
  });

  test('the topic of a subscription is missing', () => {
    expect(building({ topics: {} })).toThrow('no domain has the topic toy of the subscription toyChanged');
  });

  test('an error code is missing', () => {
    const errors = new Map([...domains.errors].filter(([code]) => code !== 'TOY_BROKEN'));
    expect(building({ errors })).toThrow('Mutation.updateToy has unknown error codes: TOY_BROKEN');
  });
});
