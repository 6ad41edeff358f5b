import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Database } from '../../src/database/database';
import { type Gateway, type Json, startGateway } from './gateway';
import { running } from './live';
import { until } from './until';

/** The parameters of a GraphQL request. */
export interface Sent {
  readonly query: string;
  /** The JSON text of the variables. */
  readonly variables?: string;
  readonly operationName?: string | null;
}

/** A response, in the same form for every transport. */
export interface Reply {
  /** The HTTP status. Over WebSocket, the status of the first error of an `error` message, else 200. */
  readonly status: number;
  readonly data?: unknown;
  readonly errors?: readonly unknown[];
  /** Whether a subscription has started. It has been ended again. */
  readonly isRunning?: true;
}

/** Sends operations to a separate gateway over every transport, one after the other. */
export class Transports {
  /** The errors that the gateway has logged. */
  readonly logged: unknown[] = [];
  private socket: WebSocket | undefined;
  private count = 0;

  private constructor(
    readonly gateway: Gateway,
    readonly url: string,
    /** The headers of all requests. */
    readonly headers: { 'x-api-key': string },
  ) {
    jest.spyOn(gateway.server.log, 'error').mockImplementation((...told: unknown[]) => void this.logged.push(told));
  }

  /** @param scope the scope of the key in all requests. */
  static async start(scope: 'READ' | 'WRITE', fillShop: (database: Database) => Promise<void>): Promise<Transports> {
    const gateway = await startGateway({});
    const url = await gateway.listen();
    await fillShop(gateway.database);
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1e9, perDay: 1e9, scopes: [scope] });
    return new Transports(gateway, url, headers);
  }

  async close(): Promise<void> {
    this.socket?.terminate();
    await until(async () => (await running(this.gateway)) === 0);
    await this.gateway.close();
  }

  /** The number of requests per minute that the key has left. */
  async remaining(): Promise<number> {
    const { headers } = await this.gateway.server.inject({ url: '/rate_limit', headers: this.headers });
    return Number(headers['x-ratelimit-remaining']);
  }

  /** The transports by name. Mutations cannot be sent by GET. */
  readonly ways: Readonly<Record<string, (sent: Sent) => Promise<Reply>>> = {
    POST: (sent) => this.request('/graphql', body(sent)),
    GET: (sent) => this.request(`/graphql?${parameters(sent)}`),
    'an event stream by POST': (sent) => this.stream('/graphql/stream', body(sent)),
    'an event stream by GET': (sent) => this.stream(`/graphql/stream?${parameters(sent)}`),
    WebSocket: (sent) => this.message(sent),
  };

  private async request(path: string, init: RequestInit = {}): Promise<Reply> {
    const headers = { accept: 'application/graphql-response+json', ...this.headers, ...init.headers };
    const response = await fetch(this.url + path, { ...init, headers });
    return reply(response.status, (await response.json()) as Json);
  }

  private async stream(path: string, init: RequestInit = {}): Promise<Reply> {
    const headers = { accept: 'text/event-stream', ...this.headers, ...init.headers };
    const response = await fetch(this.url + path, { ...init, headers });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      return reply(response.status, (await response.json()) as Json);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      // A subscription begins with an empty comment.
      if (text.startsWith(':')) break;
    }
    if (text.startsWith(':')) return this.ended(response.status);
    const [, data = ''] =
      /^(?:retry: 60000\n\n)?event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/.exec(text) ?? [];
    if (!data) throw new Error(`Not a stream of one result: ${text}`);
    const { errors, ...rest } = reply(response.status, JSON.parse(data));
    return errors && rest.data === undefined
      ? { ...rest, errors, status: statusOf(errors) }
      : { ...rest, ...(errors && { errors }) };
  }

  private async message({ query, variables, operationName }: Sent): Promise<Reply> {
    this.socket ??= await this.connect();
    const { socket } = this;
    const id = String(this.count++);
    const received: Json[] = [];
    const listen = (data: unknown) => {
      const message = JSON.parse(String(data));
      if (message.id === id) received.push(message);
    };
    socket.on('message', listen);
    socket.send(`{"type":"subscribe","id":"${id}","payload":${textOf({ query, variables, operationName })}}`);
    const isOpen = () => socket.readyState === socket.OPEN;
    await until(async () => received.length > 0 || !isOpen() || (await running(this.gateway)) > 0, 20);
    socket.off('message', listen);
    if (!isOpen()) throw new Error('The server has closed the connection.');
    const [first] = received as { type?: string; payload?: Json }[];
    if (!first) {
      socket.send(JSON.stringify({ type: 'complete', id }));
      return this.ended(200);
    }
    if (first?.type !== 'error') return reply(200, first?.payload as Json);
    const errors = first.payload as unknown as readonly unknown[];
    return reply(statusOf(errors), { errors } as unknown as Json);
  }

  /** Waits until the subscription, which the client has ended, no longer runs. */
  private async ended(status: number): Promise<Reply> {
    await until(async () => (await running(this.gateway)) === 0);
    return { status, isRunning: true };
  }

  private async connect(): Promise<WebSocket> {
    const { headers } = this;
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
      headers,
    });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    return socket;
  }
}

/** The JSON text of the parameters. Deeply nested variables cannot be written by `JSON.stringify`. */
function textOf({ variables, ...rest }: Sent): string {
  const text = JSON.stringify(rest);
  return variables === undefined ? text : `${text.slice(0, -1)},"variables":${variables}}`;
}

function body(sent: Sent): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: textOf(sent) };
}

function parameters({ query, variables, operationName }: Sent): URLSearchParams {
  return new URLSearchParams({
    query,
    ...(variables !== undefined && { variables }),
    ...(operationName && { operationName }),
  });
}

/** The response without what differs between equal requests: the request ids, and the cost with the remaining quota. */
function reply(status: number, { data, errors }: Json): Reply {
  const same = (errors as unknown as Json[] | undefined)?.map(({ extensions, ...error }) => {
    const { requestId: _, ...rest } = extensions as Json;
    return { ...error, extensions: rest };
  });
  return { status, ...(data !== undefined && { data }), ...(same && { errors: same }) };
}

function statusOf(errors: readonly unknown[]): number {
  return Number((errors[0] as Json | undefined)?.extensions?.status);
}
