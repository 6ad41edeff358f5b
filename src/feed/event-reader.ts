import type { Session } from '../database/database';
import { statement } from '../database/statement';
import { UNOWNED_ROWS, type Visibility } from '../database/visibility';
import { type Place, placeAfter } from './event-cursor';
import type { EventNumbering } from './event-numbering';

/** An event of the change feed. */
export interface StoredEvent {
  readonly id: bigint;
  readonly position: bigint;
  readonly at: Date;
  readonly topic: string;
  readonly kind: string;
  readonly objectId: string;
  readonly requestId: string | null;
  readonly actor: string | null;
}

/** A kind of event that a page may contain. */
export interface WantedEvents {
  readonly topic: string;
  readonly kind: string;
  /** Whether the rows of the topic have owners, so that callers see only some of its events. */
  readonly hasOwners: boolean;
}

export interface EventQuery {
  /** Where the page begins: a place, the oldest event that is kept, or a number of events before the end of the feed. */
  readonly after: Place | 'oldest' | number;
  readonly limit: number;
  readonly wanted: readonly WantedEvents[];
}

export interface EventPage {
  readonly kind: 'page';
  readonly events: readonly StoredEvent[];
  /** Whether more of the wanted events follow now. */
  readonly isMore: boolean;
  /** Where the next page begins: after all events that were read, including events that are not wanted. */
  readonly end: Place;
}

/** The events that follow a place are no longer kept, or the place belongs to another feed. */
export interface Expired {
  readonly kind: 'expired';
  /** The place whose next event is the oldest that is kept. */
  readonly oldest: Place;
}

/** The state of the feed, in the same snapshot as the page. */
interface FeedState {
  readonly isAnyNew: boolean;
  readonly firstPosition: bigint | null;
  readonly lastPosition: bigint;
  readonly lastId: bigint;
  readonly lastAt: Date;
  /** The event at the place where the page begins. */
  readonly hereId: bigint | null;
  readonly hereAt: Date | null;
}

type Row = FeedState & (StoredEvent | { readonly id: null });

/** Reads the change feed in pages. */
export class EventReader {
  constructor(private readonly numbering: EventNumbering) {}

  /**
   * Reads the events that follow a place.
   * @param isUpToDate whether the page has all changes whose responses were sent before the call. Otherwise, events that have no
   * positions yet are missing.
   * @throws the errors of {@link Session.query}.
   */
  async read(session: Session, query: EventQuery, isUpToDate: boolean): Promise<EventPage | Expired> {
    let rows = await select(session, query);
    if (isUpToDate && rows[0]?.isAnyNew) {
      await this.numbering.run();
      rows = await select(session, query);
    }
    const [state] = rows;
    if (!state) throw new Error('the table last_event has no row');
    const { after, limit } = query;
    if (typeof after === 'object' && !isValid(after, state)) return { kind: 'expired', oldest: oldestPlace(state) };
    const found = rows.filter((row): row is FeedState & StoredEvent => row.id !== null);
    const events = found.slice(0, limit);
    const last = events.at(-1);
    const isMore = found.length > limit;
    return { kind: 'page', events, isMore, end: isMore && last ? placeAfter(last) : lastPlace(state) };
  }
}

function lastPlace({ lastPosition: position, lastId: id, lastAt: at }: FeedState): Place {
  return placeAfter({ position, id, at });
}

/** The place just before the oldest event. It has no check, since the event at this place was deleted. */
function oldestPlace(state: FeedState): Place {
  const { firstPosition } = state;
  return firstPosition === null ? lastPlace(state) : { position: firstPosition - 1n, check: '' };
}

/**
 * Whether no event after the place is missing. Positions have no gaps, and only the oldest events are deleted. So the place is
 * valid if the event at its position is the event that the cursor names, or if the place is just before the oldest event.
 */
function isValid({ position, check }: Place, state: FeedState): boolean {
  const { firstPosition, lastPosition, hereId, hereAt } = state;
  if (position === lastPosition) return check === lastPlace(state).check;
  if (firstPosition === null || position > lastPosition) return false;
  if (hereId !== null && hereAt !== null) return check === placeAfter({ position, id: hereId, at: hereAt }).check;
  return position === firstPosition - 1n;
}

async function select(session: Session, { after, limit, wanted }: EventQuery): Promise<Row[]> {
  const { visibility = UNOWNED_ROWS } = session.requester;
  const place = typeof after === 'object' ? after.position : after === 'oldest' ? 0n : null;
  // Events of rows without owners have no owner.
  const unowned = visibility.kind === 'owned' ? wanted.filter(({ hasOwners }) => !hasOwners) : wanted;
  const owned = visibility.kind === 'unowned' ? [] : wanted.filter(({ hasOwners }) => hasOwners);
  const columns = (events: readonly WantedEvents[]) => [
    events.map(({ topic }) => topic),
    events.map(({ kind }) => kind),
  ];
  const values: unknown[] = [place, limit + 1, typeof after === 'number' ? after : 0, ...columns(unowned)];
  if (visibility.kind !== 'unowned') values.push(...columns(owned));
  if (visibility.kind === 'owned') values.push(visibility.by);
  return session.query<Row>(SELECT[visibility.kind], values, true);
}

/**
 * SQL of the first events of each topic and kind. Each part reads one range of an index, so that many other events do not slow
 * the page down.
 * @param first the number of the parameter with the topics; the kinds are the next.
 */
function firstOfEach(first: number, owner: string): string {
  return `select event.* from unnest($${first}::text[], $${first + 1}::text[]) as wanted(topic, kind) cross join lateral (
  select id, position, at, topic, kind, object_id as "objectId", request_id as "requestId", actor from events
  where topic = wanted.topic and kind = wanted.kind and owner ${owner} and position > (select position from start) order by position limit $2::int
) as event`;
}

const UNOWNED = firstOfEach(4, 'is null');

/** The statements for callers that see all events, only events without an owner, or events without an owner and of one owner. */
const SELECT: Readonly<Record<Visibility['kind'], ReturnType<typeof statement>>> = {
  all: pageOf(UNOWNED, firstOfEach(6, 'is not null')),
  unowned: pageOf(UNOWNED),
  owned: pageOf(UNOWNED, firstOfEach(6, '= $8::text')),
};

/** The events of all parts, in the order of their positions. Everything is read in one statement, and so in one snapshot. */
function pageOf(...parts: readonly string[]) {
  return statement(`with start as (select coalesce($1::bigint, position - $3::int) as position from last_event)
select last_event.position as "lastPosition", last_event.id as "lastId", last_event.at as "lastAt",
  (select position from events where position is not null order by position limit 1) as "firstPosition",
  exists (select from events where position is null) as "isAnyNew", here.id as "hereId", here.at as "hereAt", page.*
from last_event left join events as here on here.position = $1::bigint
left join (${parts.join('\nunion all ')}\norder by position limit $2::int) as page on true
order by page.position`);
}
