import type { SchemaParts } from '../../src/graphql/schema';
import { combineDomains, type Domain } from '../../src/rest/domain';

class BookResolver {}

const finder = { find: async () => new Map() };

const BOOKS: Domain = {
  name: 'books',
  resolvers: [new BookResolver()],
  operations: [{ on: 'GET /books', ok: 200, summary: 'List books', document: 'query listBooks { books { id } }' }],
  tags: { books: { name: 'Books', description: 'Books.' } },
  errors: { BOOK_LENT: { status: 409, why: 'It is lent.', fix: 'Wait.', message: 'Book 1 is lent.' } },
  idForms: [],
  tables: [],
  topics: { book: finder },
  descriptions: { title: 'Library', schema: 'A library.', rest: 'A library.' },
};
const OTHER: Domain = {
  ...BOOKS,
  name: 'other',
  operations: [],
  tags: {},
  errors: {},
  topics: {},
  descriptions: undefined,
};

const SAMPLES: Domain['samples'] = { what: 'books', unit: 'books', default: 1, max: 9, load: async () => ({}) };

test('domains are combined: resolvers, operations and errors of all', () => {
  const { description, resolvers, rest, errors, topics } = combineDomains([BOOKS, OTHER]);
  expect([description, rest.title, resolvers.length]).toEqual(['A library.', 'Library', 2]);
  expect(rest.operations).toEqual(BOOKS.operations);
  expect(topics).toEqual(['book']);
  expect([errors.get('BOOK_LENT')?.status, errors.get('NOT_FOUND')?.status]).toEqual([409, 404]);
});

test.each<[string, Domain[]]>([
  ['no domain has descriptions', [OTHER]],
  ['the domains books and other both have descriptions', [BOOKS, { ...OTHER, descriptions: BOOKS.descriptions }]],
  ['the domain other has no resolvers', [BOOKS, { ...OTHER, resolvers: [] }]],
  [
    'the domain books has no tag for the paths /books (GET /books); the domain other has no resolvers',
    [
      { ...BOOKS, tags: {} },
      { ...OTHER, resolvers: [] },
    ],
  ],
  ['the domains books and other both have the tag books', [BOOKS, { ...OTHER, tags: BOOKS.tags }]],
  ['the domains books and other both have the error code BOOK_LENT', [BOOKS, { ...OTHER, errors: BOOKS.errors }]],
  ['the domains books and other both have the topic book', [BOOKS, { ...OTHER, topics: BOOKS.topics }]],
  [
    'the domains books and other both have samples',
    [
      { ...BOOKS, samples: SAMPLES },
      { ...OTHER, samples: SAMPLES },
    ],
  ],
  [
    "the domain books has the error code NOT_FOUND, which is the gateway's",
    [{ ...BOOKS, errors: { NOT_FOUND: BOOKS.errors.BOOK_LENT as Domain['errors'][string] } }],
  ],
])('an incomplete or contradictory domain stops the start: %s', (message, domains) => {
  expect(() => combineDomains(domains)).toThrow(message);
});

test('SUBGRAPH stops the start if no domain can be a subgraph', () => {
  const { buildSubgraph } = combineDomains([BOOKS]);
  expect(() => buildSubgraph({} as SchemaParts)).toThrow('SUBGRAPH is set, but no domain has buildSubgraph');
});
