import type {
  ChangeKind,
  FeedEntry,
  NewFeedEntry,
  RecordedChange,
  Requester,
  Session,
  WriteStatement,
} from './database';
import { statement } from './statement';

/** SQL expressions of an event. */
interface EventSql {
  readonly topic: string;
  readonly kind: string;
  readonly objectId: string;
  readonly owner?: string;
  readonly requestId: string;
  readonly actor: string;
  /** The item of the FROM clause whose rows the expressions use. There is one event for each row. */
  readonly from: string;
}

/**
 * SQL that writes an event for each row of `from`. A statement that writes a single row contains it as a CTE. The `from` must
 * be the CTE that writes the rows. The ids of events are then assigned while the rows are locked, so the ids of a row's events
 * are in the order of its changes.
 */
function insertEvents({ topic, kind, objectId, owner = 'null', requestId, actor, from }: EventSql): string {
  return `insert into events (topic, kind, object_id, owner, request_id, actor)
select ${topic}, ${kind}, ${objectId}::text, ${owner}, ${requestId}, ${actor} from ${from} returning id, at, object_id`;
}

/** The values of the parameters `requestId` and `actor`. */
function authorOf({ requestId, actor }: Requester): [requestId: string | null, actor: string | null] {
  return [requestId ?? null, actor ?? null];
}

// The ids are assigned after the rows are sorted.
const EVENTS = statement(
  insertEvents({
    topic: 'topic',
    kind: 'kind',
    objectId: 'object_id',
    owner: 'owner',
    requestId: '$5::text',
    actor: '$6::text',
    from: `(select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as event(topic, kind, object_id, owner, number) order by number) as event`,
  }),
);

/** The statement that writes these entries to `events`, with its values. It returns {@link EventRow}s, in any order. */
export function eventsStatement(requester: Requester, entries: readonly NewFeedEntry[]) {
  const values = [
    entries.map(({ topic }) => topic),
    entries.map(({ kind }) => kind),
    entries.map(({ objectId }) => objectId),
    entries.map(({ owner = null }) => owner),
    ...authorOf(requester),
  ];
  return { statement: EVENTS, values };
}

/** A row that {@link insertEvents} returns. */
export type EventRow = Omit<FeedEntry, 'requestId'>;

/** An event that a {@link RecordedWrite} writes for each row of a CTE. */
interface EventOfRow extends Pick<EventSql, 'from' | 'objectId' | 'owner'> {
  readonly topic: string;
  readonly kind: ChangeKind;
}

export interface RecordedWriteSql {
  /** A CTE that runs before the INSERT. */
  readonly before?: string;
  /** An INSERT of one row, without RETURNING. As a CTE it is named `written`. */
  readonly insert: string;
  /** SQL of the fields to return, by their names. */
  readonly returning: Readonly<Record<string, string>>;
  /** The number of parameters of the SQL. */
  readonly parameters: number;
  readonly events: readonly EventOfRow[];
  /** The parts of a statement that inserts several such rows. If absent, each row is inserted by a separate statement. */
  readonly batch?: BatchSql;
}

export interface BatchSql {
  readonly table: string;
  /** The names and types of the columns that the parameters set, in the same order. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** The column that refers to a row of another table. */
  readonly reference: { readonly column: string; readonly table: string };
}

/** A statement that inserts a row, and writes the events of all its changes. */
export class RecordedWrite<Row extends object> {
  private readonly statement: WriteStatement;
  private readonly fields: readonly string[];
  private readonly events: readonly EventOfRow[];

  constructor({ before, insert, returning, parameters, events, batch }: RecordedWriteSql) {
    const author = { requestId: `$${parameters + 1}::text`, actor: `$${parameters + 2}::text` };
    const returned = Object.entries(returning).map(([field, sql]) => `${sql} as "${field}"`);
    const ctes = [
      ...(before === undefined ? [] : [before]),
      `written as (${insert} returning ${returned.join(', ')})`,
      ...events.map((event, i) => eventCte(event, i, author)),
    ];
    const joins = events.map((_, i) => ` left join event${i} on true`);
    const text = `with ${ctes.join(',\n')}\nselect written.*${eventColumns(events)} from written${joins.join('')}`;
    const single = { ...statement(text), changes: events };
    this.statement = batch ? { ...single, batch: statement(batchOf(batch, returned, events)) } : single;
    this.fields = Object.keys(returning);
    this.events = events;
  }

  /**
   * Runs the statement, and publishes its changes.
   * @returns the row; `undefined` if the INSERT selects no row.
   * @throws the errors of {@link Session.write}.
   */
  async run(session: Session, values: readonly unknown[]): Promise<Row | undefined> {
    const [requestId, actor] = authorOf(session.requester);
    const [row] = await session.write<Record<string, unknown>>(
      this.statement,
      [...values, requestId, actor],
      ([written]) => (written ? this.changesOf(written, requestId) : []),
    );
    return row && (Object.fromEntries(this.fields.map((field) => [field, row[field]])) as Row);
  }

  private changesOf(written: Readonly<Record<string, unknown>>, requestId: string | null): RecordedChange[] {
    return this.events.flatMap(({ topic, kind }, i) => {
      const id = written[`id${i}`] as bigint | null | undefined;
      if (id == null) return [];
      const entry = { id, at: written[`at${i}`] as Date, requestId };
      return [{ topic, kind, id: BigInt(written[`object${i}`] as string), entry }];
    });
  }
}

/** The CTE `event0`, `event1`, … that writes an event. */
function eventCte(
  { topic, kind, ...sql }: EventOfRow,
  i: number,
  author: Pick<EventSql, 'requestId' | 'actor'>,
): string {
  return `event${i} as (${insertEvents({ ...sql, topic: `'${topic}'`, kind: `'${kind}'`, ...author })})`;
}

function eventColumns(events: readonly EventOfRow[]): string {
  const columns = (_: EventOfRow, i: number) =>
    `, event${i}.id as "id${i}", event${i}.at as "at${i}", event${i}.object_id as "object${i}"`;
  return events.map(columns).join('');
}

/** SQL of a {@link WriteStatement.batch}. It leaves out rows whose reference is missing or locked. */
function batchOf({ table, columns, reference }: BatchSql, returned: readonly string[], events: readonly EventOfRow[]) {
  const given = [...columns, ['request_id', 'text'], ['actor', 'text']];
  const arrays = given.map(([, type], i) => `$${i + 1}::${type}[]`);
  const names = columns.map(([name]) => name).join(', ');
  const references = arrays[columns.findIndex(([name]) => name === reference.column)];
  const author = { requestId: 'request_id', actor: 'actor' };
  const ctes = [
    `referenced as (select id from ${reference.table} where id = any(${references}) for key share skip locked)`,
    `given as (select item.*, nextval('${table}_id_seq') as id
  from unnest(${arrays.join(', ')}) with ordinality as item(${given.map(([name]) => name).join(', ')}, ordinal)
  join referenced on referenced.id = item.${reference.column})`,
    `written as (insert into ${table} (id, ${names}) select id, ${names} from given returning ${returned.join(', ')})`,
    // A new row has no earlier event, so the ids of its events may be assigned before the row is locked.
    ...events.map((event, i) => eventCte({ ...event, from: 'given' }, i, author)),
  ];
  const joins = events.map((_, i) => ` join event${i} on event${i}.object_id = given.id::text`);
  return `with ${ctes.join(',\n')}
select given.ordinal, written.*${eventColumns(events)} from given join written on written.id = given.id${joins.join('')}`;
}
