import type { UsageRecorder } from '../access/usage-recorder';
import type { Database } from '../database/database';
import type { Hub } from '../events/hub';
import type { RedisRelay } from '../events/redis-relay';
import type { Uses } from '../graphql/uses';
import type { LiveOperations } from '../http/live/live-operations';
import { counter, gauge, type Metric } from '../http/metric';
import type { Overload } from '../http/overload';
import type { RequestsInProgress } from '../http/requests-in-progress';
import type { CountingStore } from '../rate-limit/counting-store';

export interface Observed {
  readonly database: Database;
  readonly limits: CountingStore;
  readonly requests: RequestsInProgress;
  readonly overload: Overload;
  readonly uses: Uses;
  readonly live: LiveOperations;
  readonly hub: Hub;
  readonly relay?: RedisRelay;
  readonly usage: UsageRecorder;
}

export const METRICS: readonly Metric<Observed>[] = [
  gauge('requests_in_progress', 'Requests in progress.', ({ requests }) => requests.count),
  counter('requests_shed_total', 'Requests refused because of overload.', ({ overload }) => overload.refused),
  gauge('event_loop_lag_seconds', 'Event loop lag.', ({ overload }) => overload.lag.ms / 1000, { aggregator: 'max' }),
  counter(
    'limiter_decisions_total',
    'Rate-limit decisions: allowed, limited, banned, too-expensive.',
    ({ limits }) => Object.entries(limits.decisions).map(([decision, value]) => ({ decision, value })),
    { labels: ['decision'] },
  ),
  counter('bans_begun_total', 'Bans that began on this instance.', ({ limits }) => limits.bansBegun),
  gauge(
    'limiter_store',
    'Processes by current rate-limit store: memory, redis, or fallback while Redis is unreachable.',
    ({ limits }) => ['memory', 'redis', 'fallback'].map((state) => ({ state, value: Number(limits.state === state) })),
    { labels: ['state'] },
  ),
  counter(
    'marked_uses_total',
    'Uses of deprecated, experimental and beta elements, by schema coordinate (or REST operation) and interface.',
    ({ uses }) => Array.from(uses, ({ times, ...labels }) => ({ ...labels, value: times })),
    { labels: ['element', 'marker', 'interface'] },
  ),
  gauge('subscriptions', 'Running subscriptions.', ({ live }) => live.count),
  counter('events_delivered_total', 'Events delivered to subscribers.', ({ hub }) => hub.delivered),
  counter(
    'subscribers_too_slow_total',
    'Subscriptions ended because their clients read too slowly.',
    ({ hub }) => hub.tooSlow,
  ),
  gauge(
    'events_shared',
    'Processes that receive events of other instances.',
    ({ relay }) => relay && Number(relay.state === 'connected'),
  ),
  counter('events_lost_total', 'Changes that could not be sent to other instances.', ({ relay }) => relay?.lost),
  gauge('usage_unsaved_seconds', 'How long usage has not been saved.', ({ usage }) => usage.unsavedMs / 1000, {
    aggregator: 'max',
  }),
  gauge(
    'database_connections',
    'Connections in the pool, total and idle.',
    ({ database: { load } }) => (['total', 'idle'] as const).map((state) => ({ state, value: load[state] })),
    { labels: ['state'] },
  ),
  gauge(
    'database_waiting',
    'Statements and transactions waiting for a connection.',
    ({ database }) => database.load.waiting,
  ),
];
