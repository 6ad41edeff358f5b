import { combineDomains, type Domain } from '../../src/rest/domain';

class BookResolver {}

const BOOKS: Domain = {
  name: 'books',
  resolvers: [new BookResolver()],
  operations: [{ on: 'GET /books', ok: 200, summary: 'List books', document: 'query listBooks { books { id } }' }],
  tags: { books: { name: 'Books', description: 'Books.' } },
  errors: { BOOK_LENT: { status: 409, why: 'It is lent.', fix: 'Wait.', message: 'Book 1 is lent.' } },
  idForms: [],
  tables: [],
  readersOf: () => ({}),
  descriptions: { title: 'Library', schema: 'A library.', rest: 'A library.' },
};
const OTHER: Domain = { ...BOOKS, name: 'other', operations: [], tags: {}, errors: {}, descriptions: undefined };

test('domains are combined: resolvers, operations and errors of all', () => {
  const { description, resolvers, rest, errors } = combineDomains([BOOKS, OTHER]);
  expect([description, rest.title, resolvers.length]).toEqual(['A library.', 'Library', 2]);
  expect(rest.operations).toEqual(BOOKS.operations);
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
  [
    "the domain books has the error code NOT_FOUND, which is the gateway's",
    [{ ...BOOKS, errors: { NOT_FOUND: BOOKS.errors.BOOK_LENT as Domain['errors'][string] } }],
  ],
])('an incomplete or contradictory domain stops the start: %s', (message, domains) => {
  expect(() => combineDomains(domains)).toThrow(message);
});
