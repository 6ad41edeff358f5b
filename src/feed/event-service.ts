import { selectByIds } from '../database/reading/select';
import type { Table } from '../database/reading/table';
import { Checks, PAGE_SIZE } from '../errors/input-checks';
import { isAdminTopic, kindsOf, type Topics } from '../events/topics';
import { requireScope } from '../graphql/admission';
import type { Caller } from '../graphql/caller';
import { DEFAULT_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { enumNameOf } from '../graphql/event-enums';
import { type TypedRow, typed } from '../graphql/node';
import { cursorExpired } from './errors';
import { decodeEventCursor, encodeEventCursor, NOT_A_PLACE, NOW, placeAfter } from './event-cursor';
import type { EventQuery, EventReader, StoredEvent, WantedEvents } from './event-reader';
import type { Event, EventPageArgs } from './types';

/** Reads the change feed for callers, who see only some of its events. */
export class EventService {
  /** The topics by their names in the schema. */
  private readonly names: ReadonlyMap<string, string>;

  constructor(
    private readonly topics: Topics,
    private readonly reader: EventReader,
  ) {
    this.names = new Map(Object.keys(topics).map((topic) => [enumNameOf(topic), topic]));
  }

  /** @throws ExpectedError `BAD_USER_INPUT`, `CURSOR_EXPIRED`, `FORBIDDEN`, `UNAUTHENTICATED`. */
  async page({ session, operationRequest }: Context, args: EventPageArgs) {
    const { caller, isContinuation } = operationRequest;
    const wanted = this.wantedBy(caller, args);
    const { after, limit } = placeOf(args);
    const page = await this.reader.read(session, { after, limit, wanted }, !isContinuation);
    if (page.kind === 'expired') throw cursorExpired(encodeEventCursor(page.oldest));
    const isAdmin = caller.scopes.has('ADMIN');
    const nodes = page.events.map((event) => shownEvent(event, isAdmin));
    return {
      nodes,
      edges: nodes.map((node) => ({ node, cursor: node.cursor })),
      pageInfo: {
        hasNextPage: page.isMore,
        hasPreviousPage: after !== 'oldest',
        startCursor: nodes[0]?.cursor ?? null,
        endCursor: encodeEventCursor(page.end),
      },
    };
  }

  /**
   * The current state of an event's object; `undefined` if the object was deleted, is no node, or is not visible to the caller.
   */
  async node({ session, loaders }: Context, { topic, objectId }: Event): Promise<TypedRow | undefined> {
    const table = this.topics[this.names.get(topic) ?? ''];
    if (!table || isAdminTopic(table) || !isNode(table)) return undefined;
    const read = (ids: readonly bigint[]) => selectByIds(session, table, ids);
    const row = await loaders.load(`Event.node ${topic}`, BigInt(objectId), read);
    return row && typed(row, table.type);
  }

  /** The kinds of events that the caller asks for. @throws ProblemError `FORBIDDEN`, `UNAUTHENTICATED`. */
  private wantedBy(caller: Caller, { topics, kinds }: EventPageArgs): WantedEvents[] {
    return [...new Set(topics ?? this.names.keys())].flatMap((name) => {
      const topic = this.names.get(name) ?? '';
      const declared = this.topics[topic];
      if (!declared) return [];
      if (isAdminTopic(declared)) {
        if (topics) requireScope(caller, declared.scope);
        else if (!caller.scopes.has(declared.scope)) return [];
      }
      const hasOwners = !isAdminTopic(declared) && declared.owner !== undefined;
      const own = Object.keys(kindsOf(declared)).filter((kind) => !kinds || kinds.includes(kind));
      return own.map((kind) => ({ topic, kind, hasOwners }));
    });
  }
}

function shownEvent(event: StoredEvent, isAdmin: boolean): Event {
  return {
    ...event,
    topic: enumNameOf(event.topic),
    actor: isAdmin ? event.actor : null,
    cursor: encodeEventCursor(placeAfter(event)),
  };
}

/** @throws ProblemError `BAD_USER_INPUT`. */
function placeOf({ after, first }: EventPageArgs): Pick<EventQuery, 'after' | 'limit'> {
  const checks = new Checks();
  const limit = checks.value('first', PAGE_SIZE, first ?? DEFAULT_PAGE);
  let place: EventQuery['after'] = 'oldest';
  const now = NOW.exec(after ?? '');
  if (now) place = Number(now[1] ?? 0);
  else if (after != null) {
    const decoded = decodeEventCursor(after);
    if (decoded) place = decoded;
    else checks.fail('after', NOT_A_PLACE);
  }
  checks.done();
  return { after: place, limit };
}

function isNode({ computed }: Table<object>): boolean {
  return computed?.nodeId !== undefined;
}
