import { type Domain, topicsOf } from '../domain/domain';
import { FEED_ERRORS } from './errors';
import type { EventNumbering } from './event-numbering';
import { EventReader } from './event-reader';
import { EventResolver } from './event-resolver';
import { EventService } from './event-service';
import type { FeedNotifier } from './feed-notifier';

/** What the change feed needs. */
export interface FeedServices {
  readonly numbering: EventNumbering;
  readonly notifier: FeedNotifier;
}

/** The change feed: the events of the topics of other domains. */
export function createFeed(domains: readonly Domain[], { numbering, notifier }: FeedServices): Domain {
  const service = new EventService(topicsOf(domains), new EventReader(numbering));
  return {
    name: 'feed',
    resolvers: [new EventResolver(service)],
    routes: [
      {
        on: 'GET /events',
        ok: 200,
        summary: 'List events',
        description: DESCRIPTION,
        additions: { listen: (listener) => notifier.listen(listener) },
        document: `query listEvents($limit: Int = 20, $cursor: String, $topic: [EventTopic!], $kind: [EventKind!]) {
            events(first: $limit, after: $cursor, topics: $topic, kinds: $kind) {
              nodes { ...event } pageInfo { hasNextPage endCursor }
            }
          } fragment event on Event { id cursor at topic kind objectId requestId actor }`,
      },
    ],
    tags: { events: { name: 'Events', description: 'The change feed: one event for each write to an object.' } },
    errors: FEED_ERRORS,
    idForms: [],
    tables: [],
    topics: {},
  };
}

const DESCRIPTION = `The change feed, oldest first: one event for each write to an object. Without \`cursor\`, the list begins with the
oldest event that is kept. With \`cursor=now\`, it begins at the end of the feed, and is empty. With \`cursor=now-20\`,
it begins 20 events before the end (at most 100).

The response has a \`Link\` with \`rel="next"\` if later events already exist. The \`Link\` with \`rel="monitor"\`, which is always
present, leads to the events that follow later. A cursor whose next events are no longer kept gets 410; \`params.oldest\` in
\`details\` is the cursor at which to begin again.

With \`Accept: text/event-stream\`, the response is a stream: the same events, and then each new event as it happens. A stream
does not accept \`limit\`, and counts as one request.`;
