import { type IncomingMessage, request } from 'node:http';
import type { Json } from './gateway';
import { until } from './until';

/** An event of the feed as a stream sends it. */
export interface StreamedEvent {
  readonly id: string;
  readonly data: Json;
}

/** A client that streams the change feed without a library, and keeps what it receives. */
export class FeedStream {
  readonly events: StreamedEvent[] = [];
  /** The id that a client would send as `Last-Event-ID`. */
  lastId = '';
  /** All blocks of the stream, comments too. */
  readonly blocks: string[] = [];
  isOver = false;
  /** The body of an error. */
  error: Json | undefined;
  private rest = '';

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8').on('data', (text: string) => this.read(text));
    response.on('error', () => undefined).on('close', () => this.end());
  }

  /** Connects, and waits for the headers of the response. */
  static async open(
    url: string,
    { path = '/events', headers = {}, method = 'GET' }: { path?: string; headers?: object; method?: string } = {},
  ): Promise<FeedStream> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const all = Object.entries({ accept: 'text/event-stream', ...headers });
      const given = Object.fromEntries(all.filter(([, value]) => value !== undefined));
      request(url + path, { method, headers: given, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    return new FeedStream(response);
  }

  get status(): number | undefined {
    return this.response.statusCode;
  }

  /** The events in short: `PET UPDATED 1`. */
  get said(): string[] {
    return this.events.map(({ data }) => `${data.topic} ${data.kind} ${data.objectId}`.toUpperCase());
  }

  async until(count: number, seconds?: number): Promise<this> {
    await until(() => this.events.length >= count || this.isOver, seconds);
    return this;
  }

  async untilOver(): Promise<this> {
    await until(() => this.isOver);
    return this;
  }

  stop(): void {
    this.response.destroy();
  }

  private read(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) {
      this.blocks.push(block);
      const fields = block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]);
      const data = fields.find(([name]) => name === 'data')?.[1];
      const id = fields.find(([name]) => name === 'id')?.[1];
      if (id !== undefined) this.lastId = id;
      if (data !== undefined) this.events.push({ id: this.lastId, data: JSON.parse(data) });
    }
  }

  private end(): void {
    this.isOver = true;
    if (this.status !== 200 && this.rest) this.error = JSON.parse(this.rest);
  }
}
