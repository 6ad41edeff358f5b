import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from '../../database/database';
import type { Replicas } from '../../database/replicas';
import type { Hub } from '../../events/hub';
import type { RedisRelay } from '../../events/redis-relay';
import type { Uses } from '../../graphql/uses';
import type { TallyStore } from '../../rate-limit/tally-store';
import type { LiveOperations } from '../live/live-operations';
import type { Overload } from '../protection/overload';
import type { RequestsInProgress } from '../protection/requests-in-progress';
import { Durations } from './durations';

export interface Observed {
  readonly database: Database;
  readonly replicas?: Replicas;
  readonly limits: TallyStore;
  readonly requests: RequestsInProgress;
  readonly overload: Overload;
  readonly uses: Uses;
  readonly live: LiveOperations;
  readonly hub: Hub;
  readonly relay?: RedisRelay;
}

/** Metrics for Prometheus: of this process, or of all processes that serve together. */
export interface Exposition {
  readonly contentType: string;
  /** The text exposition format. */
  text(): Promise<string>;
}

/** The metrics of one process, for the primary to aggregate. */
export type Samples = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * The metrics of this process. No label has a value that a client chooses. A request costs one observation; everything
 * else is read on collection.
 */
export class Metrics implements Exposition {
  private readonly registry = new Registry();
  private readonly durations = new Durations(this.registry);
  private hasProcessMetrics = false;

  constructor(observed: Observed) {
    this.addRequests(observed);
    this.addLimits(observed.limits);
    this.addUses(observed.uses);
    this.addEvents(observed);
    this.addPool(observed.database);
    if (observed.replicas) this.addReplicas(observed.replicas);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.complete().metrics();
  }

  samples(): Promise<Samples> {
    return this.complete().getMetricsAsJSON();
  }

  /** Records pending observations. Node's own metrics have a cost, so they start with the first collection. */
  private complete(): Registry {
    this.durations.count();
    if (!this.hasProcessMetrics) {
      this.hasProcessMetrics = true;
      collectDefaultMetrics({ register: this.registry });
    }
    return this.registry;
  }

  /** @param ms time from the head of the request to the end of its response. */
  observe(operation: string, status: number, ms: number): void {
    this.durations.observe(operation, status, ms);
  }

  private addRequests({ requests, overload }: Observed): void {
    this.gauge('requests_in_progress', 'Requests in progress.', () => requests.count);
    this.counter('requests_shed_total', 'Requests refused because of overload.', () => overload.refused);
    this.gauge('event_loop_lag_seconds', 'Event loop lag.', () => overload.lag.ms / 1000, 'max');
  }

  private addLimits(limits: TallyStore): void {
    new Counter({
      name: 'petstore_limiter_decisions_total',
      help: 'Rate-limit decisions: allowed, limited, banned, too-expensive.',
      labelNames: ['decision'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [decision, count] of Object.entries(limits.decisions)) this.inc({ decision }, count);
      },
    });
    this.counter('bans_begun_total', 'Bans that began on this instance.', () => limits.bansBegun);
    new Gauge({
      name: 'petstore_limiter_store',
      help: 'Processes by current rate-limit store: memory, redis, or fallback while Redis is unreachable.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        for (const state of ['memory', 'redis', 'fallback'])
          this.set({ state }, Number(limits.state === state));
      },
    });
  }

  private addUses(uses: Uses): void {
    new Counter({
      name: 'petstore_marked_uses_total',
      help: 'Uses of deprecated, experimental and beta elements, by schema coordinate (or REST operation) and interface.',
      labelNames: ['element', 'marker', 'interface'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { times, ...labels } of uses) this.inc(labels, times);
      },
    });
  }

  private addEvents({ live, hub, relay }: Observed): void {
    this.gauge('subscriptions', 'Running subscriptions.', () => live.count);
    this.counter('events_delivered_total', 'Events delivered to subscribers.', () => hub.delivered);
    this.counter(
      'subscribers_too_slow_total',
      'Subscriptions ended because their clients read too slowly.',
      () => hub.tooSlow,
    );
    if (!relay) return;
    this.gauge('events_shared', 'Processes that receive events of other instances.', () =>
      Number(relay.state === 'connected'),
    );
    this.counter('events_lost_total', 'Changes that could not be sent to other instances.', () => relay.lost);
  }

  private addPool(database: Database): void {
    if (!database.load) return;
    new Gauge({
      name: 'petstore_database_connections',
      help: 'Connections in the pool, total and idle.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        this.set({ state: 'total' }, database.load?.total ?? 0);
        this.set({ state: 'idle' }, database.load?.idle ?? 0);
      },
    });
    const waiting = () => database.load?.waiting ?? 0;
    this.gauge('database_waiting', 'Statements and transactions waiting for a connection.', waiting);
  }

  private addReplicas(replicas: Replicas): void {
    const registers = [this.registry];
    const labelNames = ['replica'];
    new Gauge({
      name: 'petstore_replica_used',
      help: '1 if reads go to the replica, 0 if it is left out.',
      labelNames,
      registers,
      aggregator: 'min',
      collect() {
        for (const { name, isUsed } of replicas.states) this.set({ replica: name }, Number(isUsed));
      },
    });
    new Gauge({
      name: 'petstore_replica_lag_seconds',
      help: 'Upper bound of the replica lag; +Inf until it is known.',
      labelNames,
      registers,
      aggregator: 'max',
      collect() {
        for (const { name, lagMs } of replicas.states) this.set({ replica: name }, lagMs / 1000);
      },
    });
    new Counter({
      name: 'petstore_replica_statements_total',
      help: 'Statements answered by the replica.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { name, answered } of replicas.states) this.inc({ replica: name }, answered);
      },
    });
    this.counter(
      'replica_failures_total',
      'Statements that a replica failed to answer and the primary took over.',
      () => replicas.failed,
    );
  }

  /** @param aggregator how the values of several processes are combined. */
  private gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'sum'): void {
    new Gauge({
      name: `petstore_${name}`,
      help,
      aggregator,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  private counter(name: string, help: string, read: () => number): void {
    new Counter({
      name: `petstore_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}
