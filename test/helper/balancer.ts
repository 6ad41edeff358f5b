import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Interval of readiness probes, in milliseconds. */
const PROBE_MS = 50;

interface Instance {
  readonly url: string;
  readonly agent: Agent;
  isReady: boolean;
}

/**
 * A typical load balancer: it distributes requests round-robin over the instances whose `/readyz` succeeds, on
 * keep-alive connections, and retries on another instance only if no connection could be established: nothing was sent
 * then.
 */
export class Balancer {
  private readonly instances = new Set<Instance>();
  private readonly server: Server;
  private readonly probes: NodeJS.Timeout;
  private turn = 0;

  private constructor() {
    this.server = createServer((incoming, outgoing) => this.pass(incoming, outgoing));
    this.probes = setInterval(() => void this.probe(), PROBE_MS);
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.server.listen(0, '127.0.0.1');
    await once(balancer.server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Number of ready instances. */
  get ready(): number {
    return [...this.instances].filter(({ isReady }) => isReady).length;
  }

  add(url: string): void {
    this.instances.add({ url, agent: new Agent({ keepAlive: true }), isReady: false });
  }

  remove(url: string): void {
    for (const instance of this.instances) if (instance.url === url) this.instances.delete(instance);
  }

  close(): void {
    clearInterval(this.probes);
    this.server.closeAllConnections();
    this.server.close();
  }

  private async probe(): Promise<void> {
    await Promise.all(
      [...this.instances].map(async (instance) => {
        instance.isReady = await fetch(`${instance.url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      }),
    );
  }

  private async pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const ready = [...this.instances].filter(({ isReady }) => isReady);
    this.turn += 1;
    const inTurn = ready.map((_, i) => ready[(this.turn + i) % ready.length] as Instance);
    for (const instance of inTurn) {
      const outcome = await send(instance, incoming, body, outgoing);
      if (outcome === 'ECONNREFUSED') continue;
      if (outcome !== undefined) outgoing.writeHead(502).end(outcome);
      return;
    }
    outgoing.writeHead(502).end('no instance is ready');
  }
}

/** @returns why there was no response; `undefined` on success. */
function send(
  { url, agent }: Instance,
  { method, url: path, headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const sent = request(url + path, { method, headers, agent }, (answer) => {
      const { connection: _, ...others } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, others);
      answer.pipe(outgoing);
      answer.on('end', () => resolve(undefined));
      answer.on('error', ({ message }) => resolve(message));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}
