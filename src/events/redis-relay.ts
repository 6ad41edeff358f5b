import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Change, ChangeListener } from '../database/changes';
import { heartbeat } from './heartbeat';

export interface RedisRelayOptions {
  /** Hears of the changes that other instances have made. */
  readonly tell: ChangeListener;
  /** Whether anybody listens here: what nobody would hear is not taken apart. */
  readonly isHeard: () => boolean;
  /** Told once per change of state. Must not throw. */
  readonly onState: (state: RelayState) => void;
  /** How often Redis is pinged, in milliseconds; a connection may be silent for twice as long. */
  readonly pingMs?: number;
}

export type RelayState = 'connected' | 'alone';

/** How long changes are gathered, in milliseconds: a message for each would cost more than many a write. */
const GATHERED_MS = 10;
const PING_MS = 2000;

/**
 * Hands changes from instance to instance (Redis publish and subscribe). The declared choice: a write never waits for it and
 * never fails by it. While Redis is out of reach each instance tells its own subscribers of its own changes alone, says so,
 * and goes back by itself; what others changed meanwhile is not made up for.
 */
export class RedisRelay {
  state: RelayState = 'alone';
  /** Changes that the others could not be told of. */
  lost = 0;
  private isStarted = false;
  private readonly channel: string;
  /** How own messages begin, which come back, unlike those of others. */
  private readonly own = `{"from":"${randomUUID()}"`;
  private unsent: Change[] = [];
  private readonly heartbeats: (() => void)[];

  /** @param subscriber a connection of its own, since one that subscribes can do nothing else. Both are given over. */
  constructor(
    private readonly publisher: Redis,
    private readonly subscriber: Redis,
    private readonly options: RedisRelayOptions,
  ) {
    // Channels, unlike keys, are common to all databases of a Redis.
    this.channel = `petstore:${subscriber.options.db ?? 0}:changes`;
    subscriber.on('message', (_channel, text) => this.receive(text));
    subscriber.on('ready', () => void this.listen());
    subscriber.on('close', () => this.be('alone'));
    const { pingMs = PING_MS } = options;
    this.heartbeats = [publisher, subscriber].map((redis) => heartbeat(redis, pingMs));
  }

  /** Resolves once it hears of others, or has said that it does not yet. */
  async start(): Promise<void> {
    if (this.subscriber.status === 'ready') await this.listen();
    if (this.state === 'alone') this.options.onState('alone');
    this.isStarted = true;
  }

  /** Not waited for. */
  publish(change: Change): void {
    if (this.unsent.push(change) === 1) setTimeout(() => this.send(), GATHERED_MS);
  }

  close(): void {
    this.send();
    for (const end of this.heartbeats) end();
    this.subscriber.removeAllListeners('close');
    this.subscriber.disconnect();
    this.publisher.disconnect();
  }

  private async listen(): Promise<void> {
    try {
      await this.subscriber.subscribe(this.channel);
      this.be('connected');
    } catch {
      // The connection is gone again; its next one comes here too.
    }
  }

  private send(): void {
    const changes = this.unsent;
    if (!changes.length) return;
    this.unsent = [];
    this.publisher.publish(this.channel, `${this.own},"changes":${encode(changes)}}`).catch(() => {
      this.lost += changes.length;
    });
  }

  private receive(text: string): void {
    if (text.startsWith(this.own) || !this.options.isHeard()) return;
    for (const change of decode(text)) this.options.tell(change);
  }

  private be(state: RelayState): void {
    if (this.state === state) return;
    this.state = state;
    if (this.isStarted) this.options.onState(state);
  }
}

const IDS = new Set(['id', 'petId', 'categoryId']);

function encode(changes: readonly Change[]): string {
  return JSON.stringify(changes, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

/** What cannot be read is another version's, and none of our business. */
function decode(text: string): readonly Change[] {
  try {
    const { changes } = JSON.parse(text, (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (IDS.has(name)) return BigInt(value);
      return name === 'shipDate' ? new Date(value) : value;
    });
    return Array.isArray(changes) ? changes : [];
  } catch {
    return [];
  }
}
