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
    tags: { events: { name: 'Events', description: 'What has changed, in the order of the changes.' } },
    errors: FEED_ERRORS,
    idForms: [],
    tables: [],
    topics: {},
  };
}

const DESCRIPTION = `The change feed, oldest first: one event for each write of an object. Without \`cursor\`, the list begins with the
oldest event that is kept; with \`cursor=now\` it is empty, and begins after the newest, and with \`cursor=now-20\` 20 events before that (at most 100).

The \`Link\` with \`rel="next"\` leads to the next page while there are more events now. The \`Link\` with \`rel="monitor"\`, which is
always there, leads to the events that follow later. A cursor whose next events are no longer kept gets 410; \`params.oldest\` in
\`details\` is the cursor at which to begin again.

With \`Accept: text/event-stream\`, the response is a stream: the same events, and then each further one as it happens. It has no
\`limit\`, and counts as one request.`;
