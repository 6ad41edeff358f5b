import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as sent (OTLP, JSON). Status 2 is an error. */
export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  readonly status: { code: number };
  /** The sender's service name. */
  readonly service: unknown;
}

type Attributes = { key: string; value: Record<string, unknown> }[];

/** An OpenTelemetry collector that stores what it receives. */
export class Collector {
  /** Everything received, verbatim. */
  text = '';
  readonly spans: SentSpan[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Collector> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        collector.take(body);
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    const collector = new Collector(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
  }

  private take(body: string): void {
    this.text += body;
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const service = valuesOf(resource.attributes)['service.name'];
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: valuesOf(span.attributes), service });
      }
    }
  }
}

function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
