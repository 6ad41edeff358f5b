import type { Column } from '../../src/database/reading/table';
import { combineDomains, type Domain } from '../../src/domain/domain';
import { buildSchema, type SchemaParts } from '../../src/graphql/schema';
import { BOXES } from '../toys/boxes';
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
  ['the domain toys has the table of the type Toy twice', [{ ...TOYS, tables: [...TOYS.tables, ...TOYS.tables] }]],
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
  const COLUMNS = TABLE.columns as Record<string, Column> & Record<'id' | 'name' | 'madeAt', Column>;
  const join = (join: 'inner' | 'left') => ({ field: 'boxId', join, table: () => BOXES });
  const building = (changed: object) => () => buildSchema({ ...domains, subscribe: jest.fn(), ...changed });

  test.each<[string, object]>([
    ['the table toys has no filter name, which Query.toys offers', { filters: {} }],
    ['the table toys has no order NAME, which Query.toys offers', { orders: { ID: TABLE.orders.ID } }],
    ['the schema has no object type Doll, which the table toys names', { type: 'Doll' }],
    ['the type Toy has no field maker, which the table toys has', { relations: { maker: join('left') } }],
    [
      'the type Toy has no field parts, which the table toys has',
      { pages: { parts: { field: 'boxId', table: () => TABLE } } },
    ],
    [
      'Toy.name is String!, but the column toys.name may be null',
      { columns: { ...COLUMNS, name: { ...COLUMNS.name, isNullable: true } } },
    ],
    [
      'Toy.name is String!, but the column toys.name is of the kind id',
      { columns: { ...COLUMNS, name: { ...COLUMNS.name, kind: 'id', type: 'bigint' } } },
    ],
    [
      'Toy.id is ID!, but the column toys.id is of the kind text',
      { columns: { ...COLUMNS, id: { ...COLUMNS.id, kind: 'text', type: 'text' } } },
    ],
    [
      'Toy.madeAt is DateTime, but the column toys.madeAt is of the kind date',
      { columns: { ...COLUMNS, madeAt: { ...COLUMNS.madeAt, kind: 'date', type: 'date' } } },
    ],
    [
      'the filter name of the table toys cannot compare toys.name, which is of the kind other',
      { filters: { ...TABLE.filters, name: { kind: 'name', column: { ...COLUMNS.name, kind: 'other' } } } },
    ],
    [
      'the filter name of the table toys searches toys.id, which is not a text',
      { filters: { ...TABLE.filters, name: { kind: 'name', column: COLUMNS.id } } },
    ],
    [
      'the filter name of the table toys needs an order by toys.id, which NAME is not',
      {
        filters: {
          ...TABLE.filters,
          name: { kind: 'atMost', column: { ...COLUMNS.id, kind: 'integer' }, order: 'NAME' },
        },
      },
    ],
    ['the relation box of the table toys may be null: its join must be left', { relations: { box: join('inner') } }],
    [
      'the relation box of the table toys leads to rows with owners, which a caller may not see: its join must be left',
      { relations: { box: { ...join('inner'), field: 'id', table: () => ({ ...BOXES, owner: { column: 'name' } }) } } },
    ],
    [
      'Toy.box is Box, but the relation box of the table toys leads to Toy',
      { relations: { box: { ...join('left'), table: () => TABLE } } },
    ],
    ['Toy.box has no resolver, and the table toys no column, relation or pages box', { relations: {} }],
    ['Toy.name has no resolver, and the table toys no column, relation or pages name', { columns: { id: COLUMNS.id } }],
    ['the owner of the table toys must be a nullable text column, but name is not', { owner: { column: 'name' } }],
  ])('%s', (message, changed) => {
    expect(building({ tables: [{ ...TABLE, ...changed }] })).toThrow(message);
  });

  test('a table is missing', () => {
    const without = (type: string) => ({ tables: domains.tables.filter((table) => table.type !== type), topics: {} });
    expect(building(without('Box'))).toThrow('no domain has the table boxes of the type Box among its tables');
    expect(building(without('Toy'))).toThrow('no domain has the table toys of the type Toy among its tables');
    expect(building({ tables: [] })).toThrow('no domain has the table toys of the type Toy among its tables');
    expect(building(without('Box'))).toThrow('Box.toys has no resolver, and no domain has a table of the type Box');
    expect(building({ tables: [], topics: {} })).toThrow(
      'no domain has a table of the type Toy, whose rows Query.toys selects',
    );
  });

  test('the topic of a subscription is missing', () => {
    expect(building({ topics: {} })).toThrow('no domain has the topic toy of the subscription toyChanged');
  });

  test('an error code is missing', () => {
    const errors = new Map([...domains.errors].filter(([code]) => code !== 'TOY_BROKEN'));
    expect(building({ errors })).toThrow('Mutation.updateToy has unknown error codes: TOY_BROKEN');
  });
});
