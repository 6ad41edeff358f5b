import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { Normaliser } from './normalise';
import { ADMIN_KEY, type Server } from './server';

/** A sequence of requests to a separate gateway. The transcript consists of the responses. */
export interface Scenario {
  readonly name: string;
  /** Settings of the gateway, in addition to {@link SETTINGS}. A setting with the value `undefined` has its default. */
  readonly settings?: Record<string, string | undefined>;
  /** Restricts the scenario to one database. By default it runs on both, which must give the same transcript. */
  readonly only?: 'embedded' | 'postgres';
  /**
   * Whether the scenario runs on only one database, because its responses are the same on both: on PostgreSQL, unless
   * only the embedded database is tested.
   */
  readonly once?: boolean;
  /** Whether the scenario needs Redis. The gateway then gets a separate Redis database. */
  readonly redis?: boolean;
  readonly run: (net: Net) => Promise<void>;
}

/**
 * The settings of every scenario. Access is the same on both databases, and `X-Forwarded-For` distinguishes callers without
 * a key.
 */
export const SETTINGS = {
  ANONYMOUS_ACCESS: 'read',
  TRUST_PROXY: '127.0.0.1',
  LOG_LEVEL: 'error',
};

/** The caller of a request: a key, or an IP address without a key. The default is `admin`. */
export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Options {
  readonly as?: Caller;
  /** Request headers; a header with the value `undefined` is not sent. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** A value that is sent as JSON, or a text that is sent as it is. */
  readonly body?: unknown;
  /** Names for ids in the response, which the transcript then shows: `{ rex: 'id' }`, `{ rex: 'data.createPet.id' }`. */
  readonly save?: Record<string, string>;
  /** A title that the transcript shows beside the request. */
  readonly title?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a body can have any shape.
  readonly json: any;
}

/** An entry of the transcript, and the messages left out of the entry. */
export interface Entry {
  readonly text: string;
  readonly messages: readonly string[];
}

const ADMIN: Caller = { name: 'admin', headers: { 'x-api-key': ADMIN_KEY } };

/** The operations of a scenario. Every request is recorded, unless the comment of a method says "Not recorded". */
export class Net {
  readonly entries: Entry[] = [];
  private readonly normaliser = new Normaliser();
  private readonly saved = new Map<string, string>();

  constructor(readonly server: Server) {}

  get url(): string {
    return this.server.url;
  }

  /** A caller without a key. @param host the last part of its IP address. */
  anonymous(host = 1): Caller {
    return { name: `anonymous ${host}`, headers: { 'x-forwarded-for': `203.0.113.${host}` } };
  }

  /** Creates an API key. Not recorded. @param input fields of `NewApiKey` other than the name. */
  async key(name: string, input: object = {}): Promise<Caller & { id: string; secret: string }> {
    const document = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { id } } }';
    const { json } = await this.exchange('POST', '/graphql', {
      body: { query: document, variables: { input: { name, ...input } } },
    });
    const { secret, apiKey } = json.data.createApiKey;
    this.normaliser.name(secret, `key of ${name}`);
    this.normaliser.name(apiKey.id, `key id of ${name}`);
    return { name, id: apiKey.id, secret, headers: { 'x-api-key': secret } };
  }

  /** Replaces a text with `name`, because the text differs from run to run. */
  hide(value: string, name: string): void {
    this.normaliser.name(value, name);
  }

  /** Runs an operation of the fixture as admin. Not recorded. @throws Error if it fails. */
  async prepare(query: string, variables?: object): Promise<Record<string, unknown>> {
    const { json, text } = await this.exchange('POST', '/graphql', { body: { query, variables } });
    if (json?.errors || !json?.data) throw new Error(`The fixture failed: ${text}`);
    return json.data;
  }

  /**
   * A shop: categories 1 to 3, pets 1 to 12 (four in each category), stock of pets 1 to 6, orders 1 to 6. Not recorded.
   * Names and quantities repeat, so that the sort orders need their tie-break.
   */
  async shop(): Promise<void> {
    await this.prepare(`mutation {
      c1: createCategory(input: { name: "Dogs", description: "Loyal" }) { id }
      c2: createCategory(input: { name: "Cats" }) { id }
      c3: createCategory(input: { name: "birds", description: "Ünïcode 🐦" }) { id }
    }`);
    const pets = ['Rex', 'Bello', 'Rex', 'Ärne', 'Tom', 'tiger', 'Tigger', 'Tom', 'Polly', 'Ö', 'zazu', 'Kiki'];
    const statuses = ['available', 'pending', 'sold'];
    const fields = pets.map((name, i) => {
      const input = `name: ${JSON.stringify(name)}, categoryId: ${Math.floor(i / 4) + 1}, status: ${statuses[i % 3]}`;
      return `p${i}: createPet(input: { ${input} }) { id }`;
    });
    await this.prepare(`mutation { ${fields.join(' ')} }`);
    await this.prepare(`mutation {
      s1: setInventory(petId: 1, input: { quantity: 5 }) { petId }
      s2: setInventory(petId: 2, input: { quantity: 0 }) { petId }
      s3: setInventory(petId: 3, input: { quantity: 5 }) { petId }
      s4: setInventory(petId: 4, input: { quantity: 2147483647 }) { petId }
      s5: setInventory(petId: 5, input: { quantity: 1 }) { petId }
      s6: setInventory(petId: 6, input: { quantity: 3 }) { petId }
      o1: placeOrder(input: { petId: 1, quantity: 2 }) { id }
      o2: placeOrder(input: { petId: 7, quantity: 9, shipDate: "2024-02-29T12:30:00+02:00" }) { id }
      o3: placeOrder(input: {}) { id }
      o4: placeOrder(input: { petId: 6, quantity: 1, shipDate: "2023-01-01T00:00:00Z", complete: true }) { id }
      o5: placeOrder(input: { petId: 1 }) { id }
      o6: placeOrder(input: { quantity: 4, shipDate: "2024-02-29T10:30:00.000Z" }) { id }
    }`);
  }

  /** Call after `shop`. The next ids are category 21, pet 31 and order 41, so that all saved ids differ. Not recorded. */
  async spreadIds(): Promise<void> {
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const kinds = [
      [range(4, 20), 'createCategory(input: { name: "x" })', 'deleteCategory'],
      [range(13, 30), 'createPet(input: { name: "x", categoryId: 1 })', 'deletePet'],
      [range(7, 40), 'placeOrder(input: {})', 'cancelOrder'],
    ] as const;
    const created = kinds.flatMap(([ids, create]) => ids.map((id) => `${create.slice(0, 9)}${id}: ${create} { id }`));
    const deleted = kinds.flatMap(([ids, , remove]) => ids.map((id) => `${remove}${id}: ${remove}(id: ${id}) { id }`));
    await this.prepare(`mutation { ${created.join(' ')} }`);
    await this.prepare(`mutation { ${deleted.join(' ')} }`);
  }

  /** Sends a REST request. @param line such as `GET /pets?limit=2` or `GET /pets/{rex}`, where `{rex}` is a saved id. */
  async rest(line: string, options: Options = {}): Promise<Answer> {
    const [method = '', path = ''] = line.split(/ (.*)/s);
    const target = path.replace(/\{(\w+)\}/g, (_, name) => this.id(name));
    const answer = await this.exchange(method, target, options);
    this.record(`${method} ${target}`, options, answer);
    return answer;
  }

  /** Sends REST requests, and records only their statuses and bodies, in one entry. */
  async table(title: string, requests: readonly (readonly [line: string, body?: unknown])[]): Promise<void> {
    const lines: string[] = [];
    for (const [line, body] of requests) {
      const [method = '', path = ''] = line.split(/ (.*)/s);
      const { status, headers, text } = await this.exchange(method, path, { body });
      this.normaliser.quota(headers, ADMIN.name);
      lines.push(`${shortened(body === undefined ? line : `${line} ${textOf(body)}`)}\n  ${status} ${text}`);
    }
    this.note(title, lines.join('\n'));
  }

  /** Sends a GraphQL operation by POST. */
  async graphql(query: string, variables?: object, options: Options = {}): Promise<Answer> {
    const body = { query, ...(variables && { variables }) };
    const answer = await this.exchange('POST', '/graphql', { ...options, body });
    this.record('POST /graphql', { ...options, body }, answer);
    return answer;
  }

  /** A saved id. */
  id(name: string): string {
    const id = this.saved.get(name);
    if (id === undefined) throw new Error(`No id was saved as ${name}`);
    return id;
  }

  /** Sends a request. Not recorded. */
  exchange(method: string, path: string, options: Options = {}): Promise<Answer> {
    return send(this.url, method, path, options);
  }

  /**
   * Sends raw bytes, and records the responses. Stops when the server closes the connection, or when nothing arrives for
   * `quiet` ms after the last data. Waits for the first data for 5 s, or for `quiet` ms if that is longer.
   */
  async raw(title: string, bytes: string | Buffer | readonly (string | Buffer)[], quiet = 300): Promise<string> {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    let received = '';
    let last = Date.now();
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
      last = Date.now();
    });
    let isClosed = false;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isClosed = true;
      });
    await once(socket, 'connect');
    for (const part of [bytes].flat()) {
      socket.write(part);
      await pause(20);
    }
    while (!isClosed && Date.now() - last < (received ? quiet : Math.max(quiet, 5000))) await pause(10);
    socket.destroy();
    this.add(() => {
      // The gateway can charge pipelined requests in another order than it responds to them, so their quotas vary.
      const isPipelined = received.split('HTTP/1.1 ').length > 2 && !received.startsWith('HTTP/1.1 100');
      const text = this.responses(Buffer.from(received)).filter((line) => !isPipelined || !line.startsWith('quota '));
      return [`== ${this.normaliser.text(title)}`, ...text, isClosed ? 'closed' : 'kept open'].join('\n');
    });
    return received;
  }

  /** The lines of the transcript for the responses received on a connection. */
  private responses(received: Buffer): string[] {
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return received.length ? [received.toString()] : [];
    const [statusLine = '', ...lines] = received.subarray(0, end).toString().split('\r\n');
    const rest = received.subarray(end + 4);
    if (/^HTTP\S+ 1\d\d/.test(statusLine)) return [statusLine, ...lines, ...this.responses(rest)];
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.replace(/^[^:]*: ?/, '')]),
    );
    // A request that the HTTP parser rejects counts for the IP address, even if it has a key.
    const caller = String(headers['x-ratelimit-limit']) === '60' ? 'the address of this machine' : ADMIN.name;
    // The response to a HEAD request has a Content-Length, but no body.
    const isNext = rest.subarray(0, 5).toString() === 'HTTP/';
    const length = isNext ? 0 : Number(headers['content-length'] ?? (/ (204|304) /.test(statusLine) ? 0 : rest.length));
    return [
      statusLine,
      ...this.normaliser.headers(headers, caller),
      `(connection: ${headers.connection})`,
      ...this.body({ status: 0, headers, text: rest.subarray(0, length).toString(), json: undefined }),
      ...this.responses(rest.subarray(length)),
    ];
  }

  /** Records an observation: a text, or another value as JSON. */
  note(title: string, value: unknown): void {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
    this.add(() => `== ${this.normaliser.text(title)}\n${this.normaliser.text(text)}`);
  }

  /**
   * Follows the cursors of a list from one end to the other, in pages of `size`, and records the ids of each page.
   * @param field the list, with `%` in place of the page arguments: `pets(filter: { name: "r" } %)`. A nested list is
   *   written as `category(id: 1) > pets(%)`.
   */
  async walk(field: string, size: number, way: 'forward' | 'backward' = 'forward', key = 'id'): Promise<void> {
    const pages: string[] = [];
    for (let cursor: string | null = null, page = 0; page < 30; page++) {
      const [count, at] = way === 'forward' ? ['first', 'after'] : ['last', 'before'];
      const args: string = `${count}: ${size}${cursor ? `, ${at}: ${JSON.stringify(cursor)}` : ''}`;
      const selected = `{ edges { cursor node { ${key} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
      const [list = '', ...outer] = field.split(' > ').reverse();
      const document = outer.reduce(
        (inner, parent) => `{ list: ${parent} ${inner} }`,
        `{ list: ${list.replace('%', args)} ${selected} }`,
      );
      const { json, text } = await this.exchange('POST', '/graphql', { body: { query: document } });
      if (!json?.data) throw new Error(`${field}: ${text}`);
      const { edges, pageInfo } = outer.reduce((data) => data.list, json.data).list;
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo;
      const areEnds = (edges[0]?.cursor ?? null) === startCursor && (edges.at(-1)?.cursor ?? null) === endCursor;
      const ids = edges.map((edge: { node: Record<string, string> }) => edge.node[key]).join(' ');
      pages.push(`${hasPreviousPage ? '… ' : ''}${ids}${hasNextPage ? ' …' : ''}${areEnds ? '' : ' ENDS DIFFER'}`);
      cursor = way === 'forward' ? (hasNextPage ? endCursor : null) : hasPreviousPage ? startCursor : null;
      if (!cursor) break;
    }
    this.note(`${field} by ${size} ${way}`, pages.join('\n'));
  }

  /** Follows the `Link: rel="next"` of a REST list, and records the ids of each page. */
  async walkRest(path: string, key = 'id'): Promise<void> {
    const pages: string[] = [];
    for (let next: string | undefined = path, page = 0; next && page < 30; page++) {
      const { json, headers, text } = await this.exchange('GET', next);
      this.normaliser.quota(headers, ADMIN.name);
      if (!Array.isArray(json)) throw new Error(`${next}: ${text}`);
      pages.push(json.map((row) => row[key]).join(' '));
      const link: string | undefined = /<([^>]+)>; *rel="next"/.exec(String(headers.link))?.[1];
      next = link?.replace(this.url, '');
    }
    this.note(`${path} by its links`, pages.join('\n'));
  }

  /** Opens a WebSocket, by default with the subprotocol of graphql-ws. The returned `Socket` records the messages. */
  async socket(options: Options & { protocol?: string; path?: string } = {}): Promise<Socket> {
    const { protocol = 'graphql-transport-ws', path = '/graphql', as } = options;
    const headers = { ...(as ?? ADMIN).headers, ...options.headers } as Record<string, string>;
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}${path}`, protocol ? [protocol] : [], { headers });
    const received: string[] = [];
    let ending: string | undefined;
    socket.on('message', (data) => received.push(String(data)));
    socket.on('close', (code, reason) => {
      ending ??= `closed ${JSON.stringify({ code, message: String(reason) })}`;
    });
    socket.on('unexpected-response', (_, response) => {
      ending = `not upgraded: ${response.statusCode}`;
      response.resume();
      socket.terminate();
    });
    socket.on('error', () => undefined);
    await until(() => socket.readyState !== WebSocket.CONNECTING || ending !== undefined);
    return {
      send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      received: async (count) => {
        await until(() => received.length >= count || ending !== undefined);
        return received.length >= count;
      },
      record: async (title, count) => {
        await until(() => received.length >= count || ending !== undefined);
        const messages = received.splice(0).map(withoutQuota);
        this.note(`WebSocket: ${title}`, [...messages, ...(ending === undefined ? [] : [ending])].join('\n'));
      },
      recordEnd: async (title) => {
        await until(() => ending !== undefined);
        this.note(`WebSocket: ${title}`, [...received.splice(0).map(withoutQuota), ending].join('\n'));
      },
      close: () => socket.terminate(),
    };
  }

  /** Opens an event stream of graphql-sse by POST, and records its status and headers. The returned `Stream` records events. */
  async stream(body: object, options: Options & { path?: string } = {}): Promise<Stream> {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json', ...options.headers };
    const { hostname, port } = new URL(this.url);
    const request = httpRequest({
      hostname,
      port,
      method: 'POST',
      path: options.path ?? '/graphql/stream',
      headers: withoutUndefined({ ...(options.as ?? ADMIN).headers, ...headers }),
      agent: false,
    });
    request.on('error', () => undefined);
    request.end(JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let received = '';
    let isEnded = false;
    response.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    response
      .on('error', () => undefined)
      .on('close', () => {
        isEnded = true;
      });
    const caller = options.as ?? ADMIN;
    this.add(() =>
      [
        `== stream ${this.normaliser.text(JSON.stringify(body))} as ${caller.name}`,
        `-- ${response.statusCode}`,
        ...this.normaliser.headers(response.headers, caller.name),
      ].join('\n'),
    );
    const events = () =>
      received
        .split('\n\n')
        .slice(0, -1)
        .filter((event) => event.trim() && !event.startsWith(':'));
    return {
      record: async (title, count) => {
        await until(() => events().length >= count || isEnded);
        this.note(`event stream: ${title}`, `${withoutQuota(events().join('\n\n'))}${isEnded ? '\nended' : ''}`);
        received = received.slice(received.lastIndexOf('\n\n') + 2);
      },
      close: () => response.destroy(),
    };
  }

  private record(line: string, options: Options, answer: Answer): void {
    const { as = ADMIN, headers = {}, body, save = {}, title } = options;
    for (const [name, path] of Object.entries(save)) {
      const id = path.split('.').reduce((value, field) => value?.[field], answer.json);
      if (id === undefined || id === null) throw new Error(`${line}: no ${path} to save as ${name} in ${answer.text}`);
      this.saved.set(name, String(id));
      this.normaliser.nameId(id, name);
    }
    this.normaliser.nameKeys(answer.text);
    this.normaliser.isIntrospection = /__schema|__type\b/.test(String(JSON.stringify(body)));
    const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value === undefined ? '(none)' : value}`);
    this.add(() =>
      [
        `== ${this.normaliser.text(line)} as ${as.name}${title ? `: ${title}` : ''}`,
        ...sent.map((header) => this.requestHeader(header)),
        ...(body === undefined ? [] : [shortened(this.normaliser.text(textOf(body)))]),
        `-- ${answer.status}`,
        ...this.normaliser.headers(answer.headers, as.name),
        ...this.body(answer),
      ].join('\n'),
    );
    this.normaliser.isIntrospection = false;
  }

  /** Replaces an entity tag in a request header with a placeholder, because tags are opaque. */
  private requestHeader(header: string): string {
    return shortened(this.normaliser.text(header.replace(/^(if-(?:none-)?match: ).*"[^"]{6,}".*$/i, '$1«etag»')));
  }

  /** The body in the transcript, or only the media type if the body is not data, such as a page or a script. */
  private body({ headers, text }: Answer): string[] {
    if (!text) return ['(no body)'];
    const type = String(headers['content-type'] ?? '');
    const isData = /json|event-stream|text\/plain|graphql/.test(type) && !/javascript/.test(type);
    if (!isData) return [`(${type})`];
    return [shortened(withRootPaths(this.normaliser.body(text)))];
  }

  private add(write: () => string): void {
    this.normaliser.messages = [];
    const text = write();
    this.entries.push({ text, messages: this.normaliser.messages });
  }
}

/** Records messages of a WebSocket. */
export interface Socket {
  send(message: object | string): void;
  /** Waits for `count` messages that are not recorded yet. @returns whether they arrived before the connection ended. */
  received(count: number): Promise<boolean>;
  /** Waits for `count` messages or the end of the connection, and records what was received. */
  record(title: string, count: number): Promise<void>;
  /** Waits until the server closes the connection, and records what was received. */
  recordEnd(title: string): Promise<void>;
  close(): void;
}

export interface Stream {
  /** Waits for `count` events or the end of the stream, and records what was received. */
  record(title: string, count: number): Promise<void>;
  close(): void;
}

/** Shortens a long text to its beginning and length, so that the transcript stays readable. */
function shortened(text: string): string {
  return text.length > 6000 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

/** Shortens the path of a database error to its root field, because the error may occur there or at a nested field. */
function withRootPaths(text: string): string {
  if (!/"(SERVICE_UNAVAILABLE|INTERNAL_SERVER_ERROR)"/.test(text)) return text;
  return text.replace(/"path":\["(\w+)"[^\]]*\]/g, '"path":["$1"]');
}

/** Hides the remaining requests in a message, because there are no quota headers to compare the numbers with. */
function withoutQuota(text: string): string {
  return text.replace(/"remaining":\{"minute":\d+,"day":\d+\}/g, '"remaining":«left»');
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Sends a request on a new connection. Retries requests that the gateway sheds under load, since they use no quota. */
export async function send(origin: string, method: string, path: string, options: Options = {}): Promise<Answer> {
  for (let left = 50; ; left--) {
    const answer = await sendOnce(origin, method, path, options);
    if (left === 0 || !answer.text.includes('"The service is overloaded.')) return answer;
    await pause(200);
  }
}

async function sendOnce(origin: string, method: string, path: string, options: Options = {}): Promise<Answer> {
  const { as = ADMIN, body } = options;
  const { hostname, port } = new URL(origin);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = withoutUndefined({ ...as.headers, ...json, ...options.headers });
  const request = httpRequest({ hostname, port, method, path, headers, agent: false });
  request.end(body === undefined ? undefined : textOf(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withoutUndefined(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for a condition. @throws Error after half a minute. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Timed out after 30 s waiting for ${condition}`);
    await pause(10);
  }
}
