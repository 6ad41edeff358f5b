import { createClient as createStreamClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Gateway, Json } from './gateway';
import { until } from './until';

/** What a subscriber has received, and how its subscription ended. */
export class Received {
  readonly answers: Json[] = [];
  error: unknown;
  isComplete = false;
  private stopped: () => void = () => undefined;

  constructor(subscribe: (sink: Sink) => () => void) {
    this.stopped = subscribe({
      next: (answer) => this.answers.push(answer as Json),
      error: (error) => {
        this.error = error;
      },
      complete: () => {
        this.isComplete = true;
      },
    });
  }

  /** The events in short: `kind petId` or `kind orderId`. */
  get said(): string[] {
    return this.answers.map(({ data }) =>
      (Object.values(data ?? {}) as Json[]).map((event) => `${event.kind} ${event.orderId ?? event.petId}`).join(),
    );
  }

  async until(count: number): Promise<Json[]> {
    await until(async () => this.answers.length >= count);
    return this.answers;
  }

  async untilOver(): Promise<this> {
    await until(async () => this.isComplete || this.error !== undefined);
    return this;
  }

  stop(): void {
    this.stopped();
  }
}

interface Sink {
  next(answer: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

export interface Subscriber {
  readonly name: string;
  subscribe(query: string, variables?: Record<string, unknown>): Received;
  close(): void;
}

/** A graphql-ws client. @param params the payload of `connection_init`. */
export function socketClient(url: string, params?: Record<string, unknown>, headers = {}): Subscriber {
  const client = createSocketClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: class extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { headers });
      }
    },
    retryAttempts: 0,
    connectionParams: params,
  });
  return {
    name: 'graphql-ws',
    subscribe: (query, variables) => new Received((sink) => client.subscribe({ query, variables }, sink)),
    close: () => void client.dispose(),
  };
}

/** A graphql-sse client. */
export function streamClient(url: string, headers: Record<string, string> = {}): Subscriber {
  const client = createStreamClient({ url: `${url}/graphql/stream`, headers, retryAttempts: 0 });
  return {
    name: 'graphql-sse',
    subscribe: (query, variables) => new Received((sink) => client.subscribe({ query, variables }, sink)),
    close: () => client.dispose(),
  };
}

/** The number of subscriptions running in an instance. */
export function running(gateway: Gateway): Promise<number> {
  return gateway.metric('subscriptions');
}

/**
 * Closes the clients of each test after the test, and waits until none of their subscriptions is left.
 * @returns a function that adds a client, and returns it.
 */
export function useSubscribers(gateway: () => Gateway): (client: Subscriber) => Subscriber {
  const clients: Subscriber[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await until(async () => (await running(gateway())) === 0);
  });
  return (client) => {
    clients.push(client);
    return client;
  };
}
