import type { UsageRecorder } from '../access/usage';
import type { Database } from '../database/database';
import type { Hub } from '../events/hub';
import type { RedisRelay } from '../events/redis-relay';
import { feedSizeReader } from '../feed/feed-size';
import type { MarkedElementUses } from '../graphql/marked-element-uses';
import type { LiveOperations } from '../http/live/live-operations';
import { lostLogLines } from '../http/logger';
import { counter, gauge, type Metric } from '../http/metric';
import type { RequestsInProgress } from '../http/requests-in-progress';
import type { Limiter } from '../rate-limit/limiter';

export interface Observed {
  readonly database: Database;
  readonly limits: Limiter;
  readonly requests: RequestsInProgress;
  readonly uses: MarkedElementUses;
  readonly live: LiveOperations;
  readonly hub: Hub;
  readonly relay?: RedisRelay;
  readonly usage: UsageRecorder;
}

/** The metrics whose values are read each time the metrics are collected. */
export function metricsOf({ database, limits, requests, uses, live, hub, relay, usage }: Observed): readonly Metric[] {
  const feedSize = feedSizeReader(database);
  return [
    gauge('requests_in_progress', 'Requests in progress.', () => requests.count),
    counter(
      'requests_shed_total',
      'Requests rejected because of overload, or because their caller had too many requests in progress or unread responses.',
      () => requests.rejected,
    ),
    gauge('unsent_bytes', 'Bytes of responses that clients have not read.', () => requests.unsent.total),
    counter(
      'unread_connections_closed_total',
      'Connections closed because their clients did not read the responses.',
      () => requests.unsent.closed,
    ),
    gauge('event_loop_lag_seconds', 'Event loop lag.', () => requests.lag.ms / 1000, { aggregator: 'max' }),
    counter(
      'limiter_decisions_total',
      'Rate-limit decisions: allowed, limited, banned, too-expensive.',
      () => Object.entries(limits.decisions).map(([decision, value]) => ({ decision, value })),
      { labels: ['decision'] },
    ),
    counter('bans_begun_total', 'Bans that began on this instance.', () => limits.bansBegun),
    gauge(
      'limiter_store',
      'Processes by current rate-limit store: memory, redis, or fallback while Redis is unreachable.',
      () => ['memory', 'redis', 'fallback'].map((state) => ({ state, value: Number(limits.state === state) })),
      { labels: ['state'] },
    ),
    counter(
      'marked_uses_total',
      'Uses of deprecated, experimental and beta elements, by schema coordinate (or REST operation) and interface.',
      () => Array.from(uses, ({ times, ...labels }) => ({ ...labels, value: times })),
      { labels: ['element', 'marker', 'interface'] },
    ),
    gauge('subscriptions', 'Running subscriptions, and streams of the change feed.', () => live.count),
    counter('events_delivered_total', 'Events delivered to subscribers.', () => hub.delivered),
    counter(
      'subscribers_too_slow_total',
      'Subscriptions ended because their clients read too slowly.',
      () => hub.tooSlow,
    ),
    gauge(
      'events_shared',
      'Processes that receive events of other instances.',
      () => relay && Number(relay.state === 'connected'),
    ),
    counter('events_lost_total', 'Changes that could not be sent to other instances.', () => relay?.lost),
    gauge('feed_events', 'Events in the change feed.', async () => (await feedSize())?.kept, {
      aggregator: 'max',
    }),
    gauge(
      'feed_oldest_event_seconds',
      'Age of the oldest event in the change feed.',
      async () => (await feedSize())?.oldestSeconds,
      { aggregator: 'max' },
    ),
    gauge(
      'feed_unnumbered_events',
      'Committed events that are not in the change feed yet, at most 100,000.',
      async () => (await feedSize())?.unnumbered,
      { aggregator: 'max' },
    ),
    gauge(
      'usage_unsaved_seconds',
      'Seconds since saving usage began to fail; 0 if the last save succeeded.',
      () => usage.unsavedMs / 1000,
      { aggregator: 'max' },
    ),
    gauge(
      'database_connections',
      'Connections in the pool, total and idle.',
      () => (['total', 'idle'] as const).map((state) => ({ state, value: database.load[state] })),
      { labels: ['state'] },
    ),
    counter('log_lines_lost_total', 'Log lines that could not be written.', lostLogLines),
    gauge('database_waiting', 'Statements and transactions waiting for a connection.', () => database.load.waiting),
  ];
}
