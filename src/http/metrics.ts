import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from '../database/database';
import type { Replicas } from '../database/replicas';
import type { Hub } from '../events/hub';
import type { RedisRelay } from '../events/redis-relay';
import type { Uses } from '../graphql/uses';
import type { TallyStore } from '../rate-limit/tally-store';
import { Durations } from './durations';
import type { LiveOperations } from './live-operations';
import type { Overload } from './overload';
import type { RequestsInProgress } from './requests-in-progress';

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

/** Metrics as Prometheus reads them: of this process, or of all that serve together. */
export interface Exposition {
  readonly contentType: string;
  /** The text exposition format. */
  text(): Promise<string>;
}

/** What one process has to tell, for others to add up. */
export type Samples = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * What Prometheus is told. No label has a value that a client chooses. A request costs one observation; everything else is
 * read when it is asked for.
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

  /** With what has been observed meanwhile. What Node tells of itself costs something from then on that somebody asks. */
  private complete(): Registry {
    this.durations.count();
    if (!this.hasProcessMetrics) {
      this.hasProcessMetrics = true;
      collectDefaultMetrics({ register: this.registry });
    }
    return this.registry;
  }

  /** @param ms how long it took, from its head to the end of its answer. */
  observe(operation: string, status: number, ms: number): void {
    this.durations.observe(operation, status, ms);
  }

  private addRequests({ requests, overload }: Observed): void {
    this.gauge('requests_in_progress', 'Requests that are worked on.', () => requests.count);
    this.counter(
      'requests_shed_total',
      'Requests refused since there was too much to do.',
      () => overload.refused,
    );
    this.gauge('event_loop_lag_seconds', 'How late the process is.', () => overload.lag.ms / 1000, 'max');
  }

  private addLimits(limits: TallyStore): void {
    new Counter({
      name: 'petstore_limiter_decisions_total',
      help: 'What the limiter decided: allowed, limited, banned, too-expensive.',
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
      help: 'Processes by where they count requests now: memory, redis, or fallback while Redis is out of reach.',
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
      help: 'Uses of what is deprecated, experimental or beta, by schema coordinate (or REST operation) and interface.',
      labelNames: ['element', 'marker', 'interface'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { times, ...labels } of uses) this.inc(labels, times);
      },
    });
  }

  private addEvents({ live, hub, relay }: Observed): void {
    this.gauge('subscriptions', 'Subscriptions that run.', () => live.count);
    this.counter('events_delivered_total', 'Events handed to subscribers.', () => hub.delivered);
    this.counter(
      'subscribers_too_slow_total',
      'Subscriptions ended since events came faster than they were read.',
      () => hub.tooSlow,
    );
    if (!relay) return;
    this.gauge('events_shared', 'Processes that hear of the events of others.', () =>
      Number(relay.state === 'connected'),
    );
    this.counter('events_lost_total', 'Changes that other instances could not be told of.', () => relay.lost);
  }

  private addPool(database: Database): void {
    if (!database.load) return;
    new Gauge({
      name: 'petstore_database_connections',
      help: 'Connections of the pool, in all and idle.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        this.set({ state: 'total' }, database.load?.total ?? 0);
        this.set({ state: 'idle' }, database.load?.idle ?? 0);
      },
    });
    const waiting = () => database.load?.waiting ?? 0;
    this.gauge('database_waiting', 'Statements and transactions that wait for a connection.', waiting);
  }

  private addReplicas(replicas: Replicas): void {
    const registers = [this.registry];
    const labelNames = ['replica'];
    new Gauge({
      name: 'petstore_replica_used',
      help: '1 for replicas that reads go to, 0 for those that are left out.',
      labelNames,
      registers,
      aggregator: 'min',
      collect() {
        for (const { name, isUsed } of replicas.states) this.set({ replica: name }, Number(isUsed));
      },
    });
    new Gauge({
      name: 'petstore_replica_lag_seconds',
      help: 'How far a replica is behind at most; +Inf until it has been seen.',
      labelNames,
      registers,
      aggregator: 'max',
      collect() {
        for (const { name, lagMs } of replicas.states) this.set({ replica: name }, lagMs / 1000);
      },
    });
    new Counter({
      name: 'petstore_replica_statements_total',
      help: 'Statements that a replica has answered.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { name, answered } of replicas.states) this.inc({ replica: name }, answered);
      },
    });
    this.counter(
      'replica_failures_total',
      'Statements that a replica did not answer, and the primary did.',
      () => replicas.failed,
    );
  }

  /** @param aggregator how those of several processes become one. */
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
