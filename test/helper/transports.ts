import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Json } from './gateway';
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

/** Sends operations to one gateway over every transport. */
export class Transports {
  private socket: WebSocket | undefined;
  private count = 0;

  /** @param headers the headers of all requests, with an API key. */
  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** The transports by name. Mutations cannot be sent by GET. */
  readonly ways: Readonly<Record<string, (sent: Sent) => Promise<Reply>>> = {
    POST: (sent) => this.request('/graphql', body(sent)),
    GET: (sent) => this.request(`/graphql?${parameters(sent)}`),
    'an event stream by POST': (sent) => this.stream('/graphql/stream', body(sent)),
    'an event stream by GET': (sent) => this.stream(`/graphql/stream?${parameters(sent)}`),
    WebSocket: (sent) => this.message(sent),
  };

  close(): void {
    this.socket?.terminate();
  }

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
      if (text.startsWith(':')) return { status: response.status, isRunning: true };
    }
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
    const isSubscription = /^\s*subscription\b/m.test(query);
    const deadline = performance.now() + (isSubscription ? 300 : 20_000);
    await until(() => received.length > 0 || socket.readyState !== socket.OPEN || performance.now() > deadline);
    socket.off('message', listen);
    if (socket.readyState !== socket.OPEN) throw new Error('The server has closed the connection.');
    const [first] = received as { type?: string; payload?: Json }[];
    if (!first && isSubscription) {
      socket.send(JSON.stringify({ type: 'complete', id }));
      return { status: 200, isRunning: true };
    }
    if (first?.type !== 'error') return reply(200, first?.payload as Json);
    const errors = first.payload as unknown as readonly unknown[];
    return reply(statusOf(errors), { errors } as unknown as Json);
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
