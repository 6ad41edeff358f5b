import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Change, ChangeListener } from '../database/database';
import type { Table } from '../database/reading/table';
import { heartbeat } from '../redis/heartbeat';
import { assertAccepted } from '../redis/rejections';

export interface RedisRelayOptions {
  /** The tables of the topics. Decoding needs the kinds of their columns, since JSON has no 64-bit integers and no times. */
  readonly topics: Readonly<Record<string, Table<object>>>;
  /** Receives the changes made by other instances. */
  readonly notify: ChangeListener;
  /** Whether this instance has subscribers. Without subscribers, messages are not decoded. */
  readonly hasSubscribers: () => boolean;
  /** Called for each message of another instance, before it is decoded. */
  readonly onMessage: () => void;
  /** Called each time the state changes. Must not throw. */
  readonly onState: (state: RelayState) => void;
  /** Ping interval in milliseconds. A connection that is silent for two intervals is replaced. */
  readonly pingMs?: number;
}

export type RelayState = 'connected' | 'alone';

/**
 * How long changes are batched, in milliseconds. A separate message for each change could cost more than the write itself.
 */
const BATCH_MS = 10;
const PING_MS = 2000;

/**
 * Relays changes between instances (Redis publish/subscribe). Writes never wait for the relay, and never fail because of it.
 * While Redis is unreachable, each instance reports the state `alone`, and its subscribers get only the changes that this
 * instance makes. The relay reconnects automatically. Changes that other instances made in the meantime are lost.
 */
export class RedisRelay {
  state: RelayState = 'alone';
  /** Number of changes that could not be published. */
  lost = 0;
  private isStarted = false;
  private readonly channel: string;
  /** The prefix of the messages that this instance publishes. Redis delivers these messages back to this instance, too. */
  private readonly own = `{"from":"${randomUUID()}"`;
  private unsent: Change[] = [];
  private readonly heartbeats: (() => void)[];

  /**
   * @param subscriber a separate connection, since a subscribed connection cannot publish. `close` closes both connections.
   */
  constructor(
    private readonly publisher: Redis,
    private readonly subscriber: Redis,
    private readonly options: RedisRelayOptions,
  ) {
    // The name contains the database number, since all databases of a Redis server share their channels, but not their keys.
    this.channel = `petstore:${subscriber.options.db ?? 0}:changes`;
    subscriber.on('message', (_channel, text) => this.receive(text));
    subscriber.on('ready', () => void this.listen());
    subscriber.on('close', () => this.setState('alone'));
    const { pingMs = PING_MS } = options;
    this.heartbeats = [publisher, subscriber].map((redis) => heartbeat(redis, pingMs));
  }

  /**
   * Resolves once the relay receives changes from other instances, or has reported the state `alone`.
   * @throws Error if Redis rejects this client.
   */
  async start(): Promise<void> {
    if (this.subscriber.status === 'ready') await this.listen();
    if (this.publisher.status === 'ready') await this.publishAll([]).catch((error) => this.assertTemporary(error));
    if (this.state === 'alone') this.options.onState('alone');
    this.isStarted = true;
  }

  /** Queues a change for other instances. Never waits, and never fails. */
  enqueue(change: Change): void {
    if (this.unsent.push(change) === 1) setTimeout(() => this.flush(), BATCH_MS);
  }

  close(): void {
    this.flush();
    for (const end of this.heartbeats) end();
    this.subscriber.removeAllListeners('close');
    this.subscriber.disconnect();
    this.publisher.disconnect();
  }

  private async listen(): Promise<void> {
    try {
      await this.subscriber.subscribe(this.channel);
      this.setState('connected');
    } catch (error) {
      // The connection was lost. The relay subscribes again when the connection is ready.
      this.assertTemporary(error);
    }
  }

  private assertTemporary(error: unknown): void {
    if (!this.isStarted) assertAccepted(error);
  }

  private flush(): void {
    const changes = this.unsent;
    if (!changes.length) return;
    this.unsent = [];
    this.publishAll(changes).catch(() => {
      this.lost += changes.length;
    });
  }

  private publishAll(changes: readonly Change[]): Promise<number> {
    return this.publisher.publish(this.channel, `${this.own},"changes":${encode(changes)}}`);
  }

  private receive(text: string): void {
    if (text.startsWith(this.own)) return;
    this.options.onMessage();
    if (!this.options.hasSubscribers()) return;
    for (const change of this.decode(text)) this.options.notify(change);
  }

  /** Decodes a message. A message that cannot be decoded comes from another version of the gateway, and is ignored. */
  private decode(text: string): readonly Change[] {
    try {
      const { changes } = JSON.parse(text) as { changes: readonly EncodedChange[] };
      return changes.map(({ id, before, event: entry, ...change }) => {
        const table = this.options.topics[change.topic];
        return {
          ...change,
          id: BigInt(id),
          ...(before && { before: table ? decodeRow(table, before) : before }),
          ...(entry && { entry: { ...entry, id: BigInt(entry.id), at: new Date(entry.at) } }),
        };
      });
    } catch {
      return [];
    }
  }

  private setState(state: RelayState): void {
    if (this.state === state) return;
    this.state = state;
    if (this.isStarted) this.options.onState(state);
  }
}

type Encoded = Readonly<Record<string, unknown>>;
/** A change in a message. Instances of the previous version call its `entry` `event`. */
type EncodedChange = Omit<Change, 'id' | 'before' | 'entry'> & {
  readonly id: string;
  readonly before?: Encoded;
  readonly event?: { readonly id: string; readonly at: string; readonly requestId: string | null };
};

/** Decodes a row, and the related rows in it. */
function decodeRow({ columns, relations }: Table<object>, row: Encoded): object {
  const fields = Object.entries(row).map(([name, value]) => {
    const related = relations[name]?.table();
    if (related && value !== null) return [name, decodeRow(related, value as Encoded)];
    if (typeof value !== 'string') return [name, value];
    const kind = columns[name]?.kind;
    if (kind === 'id') return [name, BigInt(value)];
    return [name, kind === 'timestamp' || kind === 'date' ? new Date(value) : value];
  });
  return Object.fromEntries(fields);
}

function encode(changes: readonly Change[]): string {
  const encoded = changes.map(({ entry: event, ...change }) => ({ ...change, event }));
  return JSON.stringify(encoded, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
