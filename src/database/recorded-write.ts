import type { ChangeKind, NewEvent, Session, Statement, WrittenEvent } from './database';
import type { Requester } from './deadline';
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
 * be the CTE that writes the rows, so that the ids are drawn under the locks of the rows: ids order the events of a row.
 */
function insertEvents({ topic, kind, objectId, owner = 'null', requestId, actor, from }: EventSql): string {
  return `insert into events (topic, kind, object_id, owner, request_id, actor)
select ${topic}, ${kind}, ${objectId}::text, ${owner}, ${requestId}, ${actor} from ${from} returning id, at, object_id`;
}

/** The values of the parameters `requestId` and `actor`. */
function authorOf({ requestId, actor }: Requester): [requestId: string | null, actor: string | null] {
  return [requestId ?? null, actor ?? null];
}

// The ids are drawn after the rows are sorted.
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

/** The statement that writes these events, with its values. It returns {@link EventRow}s, in any order. */
export function eventsStatement(requester: Requester, events: readonly NewEvent[]) {
  const values = [
    events.map(({ topic }) => topic),
    events.map(({ kind }) => kind),
    events.map(({ objectId }) => objectId),
    events.map(({ owner = null }) => owner),
    ...authorOf(requester),
  ];
  return { statement: EVENTS, values };
}

/** A row that {@link insertEvents} returns. */
export type EventRow = Omit<WrittenEvent, 'requestId'>;

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
}

/** A statement that inserts a row, and writes the events of all its changes. */
export class RecordedWrite<Row extends object> {
  private readonly statement: Statement;
  private readonly fields: readonly string[];
  private readonly events: readonly EventOfRow[];

  constructor({ before, insert, returning, parameters, events }: RecordedWriteSql) {
    const author = { requestId: `$${parameters + 1}::text`, actor: `$${parameters + 2}::text` };
    const returned = Object.entries(returning).map(([field, sql]) => `${sql} as "${field}"`);
    const ctes = [
      ...(before === undefined ? [] : [before]),
      `written as (${insert} returning ${returned.join(', ')})`,
      ...events.map(({ topic, kind, ...sql }, i) => {
        const event = { ...sql, topic: `'${topic}'`, kind: `'${kind}'`, ...author };
        return `event${i} as (${insertEvents(event)})`;
      }),
    ];
    const columns = events.map(
      (_, i) => `, event${i}.id as "id${i}", event${i}.at as "at${i}", event${i}.object_id as "object${i}"`,
    );
    const joins = events.map((_, i) => ` left join event${i} on true`);
    this.statement = statement(
      `with ${ctes.join(',\n')}\nselect written.*${columns.join('')} from written${joins.join('')}`,
    );
    this.fields = Object.keys(returning);
    this.events = events;
  }

  /** Runs the statement, and publishes its changes. @throws as {@link Session.write}. */
  async run(session: Session, values: readonly unknown[]): Promise<Row | undefined> {
    const [requestId, actor] = authorOf(session.requester);
    const [row] = await session.write<Record<string, unknown>>(
      this.statement,
      [...values, requestId, actor],
      ([written], changes) => {
        for (const [i, { topic, kind }] of this.events.entries()) {
          const id = written?.[`id${i}`] as bigint | null | undefined;
          if (id == null) continue;
          const event = { id, at: written?.[`at${i}`] as Date, requestId };
          changes.publish({ topic, kind, id: BigInt(written?.[`object${i}`] as string), event });
        }
      },
    );
    return row && (Object.fromEntries(this.fields.map((field) => [field, row[field]])) as Row);
  }
}
