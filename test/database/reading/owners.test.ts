import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Session } from '../../../src/database/database';
import { Deadline } from '../../../src/database/deadline';
import * as counting from '../../../src/database/reading/count';
import { JsonText } from '../../../src/database/reading/json-text';
import * as selecting from '../../../src/database/reading/select';
import type { PageJson, PageQuery, RowJson } from '../../../src/database/reading/selection';
import type { Table } from '../../../src/database/reading/table';
import * as locking from '../../../src/database/row-locks';
import { statement } from '../../../src/database/statement';
import type { Visibility } from '../../../src/database/visibility';
import { createDatabase } from '../../helper/database';
import { BOXES, CREATE_BOXES } from '../../toys/boxes';
import { CREATE_TABLE, TOYS } from '../../toys/toys';

// Toy 1 has no owner, toy 2 is Ada's, toy 3 is Bob's. All are in box 1, whose favourite is toy 2. Box 2's favourite is toy 3.

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
  for (const text of [
    CREATE_BOXES.text,
    CREATE_TABLE.text,
    "insert into boxes (name, favourite_id) values ('One', 2), ('Two', 3)",
    "insert into toys (name, box_id, owner) values ('Train', 1, null), ('Roller', 1, 'ada'), ('Troll', 1, 'bob')",
  ])
    await database.serviceSession().query(statement(text), []);
});
afterAll(async () => {
  await database.serviceSession().query(statement('drop table toys, boxes'), []);
  await drop();
});

const FORMAT = { ids: 'string', nulls: 'null' } as const;
const NAME: RowJson = { ...FORMAT, members: [{ kind: 'column', key: 'name', column: 'name' }] };
const NAMES: PageJson = { members: [{ kind: 'nodes', key: 'nodes', row: NAME }] };
const TOTAL: PageJson = { members: [{ kind: 'total-count', key: 'totalCount' }] };
const FAVOURITE: RowJson = {
  ...FORMAT,
  members: [{ kind: 'relation', key: 'favourite', relation: 'favourite', row: NAME }],
};
const BOX_OF_TOYS: RowJson = {
  ...FORMAT,
  members: [
    {
      kind: 'relation',
      key: 'box',
      relation: 'box',
      row: { ...FORMAT, members: [{ kind: 'relation', key: 'favourite', relation: 'favourite', row: NAME }] },
    },
  ],
};
const PAGE: PageQuery = { filters: {}, order: 'ID', descending: false, limit: 10, backward: false };
const toys = TOYS as Table<object>;
const boxes = BOXES as Table<object>;

/** Parses JSON from the database, also inside of other values. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value instanceof Map ? [...value] : value, (_key, each: unknown) =>
      typeof each === 'bigint' ? Number(each) : each instanceof JsonText ? JSON.parse(each.text) : each,
    ) ?? 'null',
  );
const names = (rows: Iterable<unknown>) => [...rows].map((row) => (row as { name: string }).name);
const fields = (...given: string[]) => ({
  kind: 'fields' as const,
  fields: new Map(given.map((name) => [name, { kind: 'fields' as const, fields: new Map() }])),
});

type Read = (session: Session) => Promise<unknown>;

const { selectByIds, selectOne, selectPage, selectPageAsJson, selectPages } = selecting;
const { countRows, countRowsByParent } = counting;
const lock = locking.rowLock<{ name: string }>(TOYS, 'update', { name: { sql: 'toys.name', type: 'text' } } as never);

/** Every function that reads rows, in every form, with what all three kinds of callers see. */
const WAYS: readonly [way: string, read: Read, all: unknown, unowned: unknown, owned: unknown][] = [
  ['selectByIds: one', async (s) => names((await selectByIds(s, toys, [2n])).values()), ['Roller'], [], ['Roller']],
  [
    'selectByIds: many',
    async (s) => names((await selectByIds(s, toys, [1n, 2n, 3n], fields('name'))).values()),
    ['Train', 'Roller', 'Troll'],
    ['Train'],
    ['Roller'],
  ],
  [
    'selectByIds: joined',
    async (s) =>
      [...(await selectByIds(s, boxes, [1n, 2n], fields('favourite'))).values()].map(
        (box) => (box as { favourite: { id: bigint } | null }).favourite?.id ?? null,
      ),
    [2n, 3n],
    [null, null],
    [2n, null],
  ],
  ['selectOne', (s) => selectOne(s, toys, 3n, { kind: 'row-json', row: NAME }), { name: 'Troll' }, null, null],
  [
    'selectOne: joined',
    (s) => selectOne(s, boxes, 1n, { kind: 'row-json', row: FAVOURITE }),
    { favourite: { name: 'Roller' } },
    { favourite: null },
    { favourite: { name: 'Roller' } },
  ],
  [
    'selectOne: subquery',
    (s) => selectOne(s, toys, 1n, { kind: 'row-json', row: BOX_OF_TOYS }),
    { box: { favourite: { name: 'Roller' } } },
    { box: { favourite: null } },
    null,
  ],
  [
    'selectOne: page inside',
    (s) => {
      const row: RowJson = { ...FORMAT, members: [{ kind: 'pages', key: 'toys', pages: 'toys', page: NAMES }] };
      return selectOne(s, boxes, 1n, { kind: 'row-json', row, nested: new Map([[NAMES, PAGE]]) });
    },
    { toys: { nodes: [{ name: 'Train' }, { name: 'Roller' }, { name: 'Troll' }] } },
    { toys: { nodes: [{ name: 'Train' }] } },
    { toys: { nodes: [{ name: 'Roller' }] } },
  ],
  ...(
    [
      ['', {}],
      [': by name', { order: 'NAME' }],
      [': several intervals', { filters: { boxIds: [1n, 2n] } }],
      [': searched', { filters: { name: 'roll' } }],
      [': searched, by name', { filters: { name: 'roll' }, order: 'NAME' }],
      [': backward', { backward: true }],
      [': between cursors', { after: { key: '0', id: '0' }, before: { key: '9', id: '9' } }],
    ] as const
  ).map(([what, query]): (typeof WAYS)[number] => {
    const expected = (...seen: string[]) =>
      ('filters' in query && 'name' in query.filters ? seen.filter((name) => name !== 'Train') : seen).sort();
    return [
      `selectPage${what}`,
      async (s) => names((await selectPage(s, toys, { ...PAGE, ...query })).rows).sort(),
      expected('Train', 'Roller', 'Troll'),
      expected('Train'),
      expected('Roller'),
    ];
  }),
  [
    'selectPageAsJson',
    async (s) => plain(await selectPageAsJson(s, toys, PAGE, NAMES, undefined)),
    { nodes: [{ name: 'Train' }, { name: 'Roller' }, { name: 'Troll' }] },
    { nodes: [{ name: 'Train' }] },
    { nodes: [{ name: 'Roller' }] },
  ],
  [
    'selectPageAsJson: total',
    async (s) => plain(await selectPageAsJson(s, toys, PAGE, TOTAL, undefined)),
    { totalCount: 3 },
    { totalCount: 1 },
    { totalCount: 1 },
  ],
  [
    'selectPages',
    async (s) => names((await selectPages(s, toys, 'boxId', [1n, 2n], PAGE)).get(1n)?.rows ?? []),
    ['Train', 'Roller', 'Troll'],
    ['Train'],
    ['Roller'],
  ],
  ['countRows', async (s) => (await countRows(s, toys, {})).count, 3, 1, 1],
  ['countRows: filtered', async (s) => (await countRows(s, toys, { name: 'roll' })).count, 2, 0, 1],
  ['countRowsByParent', async (s) => (await countRowsByParent(s, toys, 'boxId', [1n], {})).get(1n)?.count, 3, 1, 1],
  [
    'lockRows',
    (s) => s.transaction(async (tx) => names(await locking.lockRows(tx, lock, [1n, 2n, 3n]))),
    ['Train', 'Roller', 'Troll'],
    ['Train'],
    ['Roller'],
  ],
  [
    'lockRow',
    (s) => s.transaction(async (tx) => (await locking.lockRow(tx, lock, 2n))?.name ?? null),
    'Roller',
    null,
    'Roller',
  ],
];

const sessionOf = (visibility?: Visibility) =>
  database.sessionFor({ callerId: 'test', deadline: new Deadline(60_000), visibility });

test.each(WAYS)('a caller sees only its rows: %s', async (_way, read, all, unowned, owned) => {
  // Each session reads twice, since statements are cached.
  for (const [visibility, expected] of [
    [{ kind: 'all' }, all],
    [{ kind: 'unowned' }, unowned],
    [{ kind: 'owned', by: 'ada' }, owned],
    [undefined, unowned],
    [{ kind: 'all' }, all],
    [{ kind: 'owned', by: 'ada' }, owned],
  ] as const)
    expect(plain(await read(sessionOf(visibility)))).toEqual(plain(expected));
});

test('the ways to read in this file are all functions that read rows', () => {
  const known = new Set(WAYS.map(([way]) => way.split(':')[0]));
  const reads = Object.entries({ ...selecting, ...counting, ...locking }).filter(
    ([, value]) => typeof value === 'function' && /^(async )?function \w+\((session|transaction)\b/.test(String(value)),
  );
  expect(reads.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
});

test('one place names tables in SQL, and adds the condition', () => {
  const directory = join(__dirname, '..', '..', '..', 'src', 'database');
  const files = ['row-locks.ts', ...readdirSync(join(directory, 'reading')).map((file) => join('reading', file))];
  const naming = files.flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter((line) => /\b(from|join) \$\{([\w.]*\.)?name\}/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(naming).toEqual([expect.stringContaining('statement-scope.ts')]);
});
