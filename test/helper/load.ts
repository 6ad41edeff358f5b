import { Agent, request } from 'node:http';

/** An attempted request, with its response, or the error if there was no response. */
export interface Tried {
  /** When the request was sent, and how long it took, in milliseconds. */
  readonly at: number;
  readonly took: number;
  readonly status?: number;
  readonly body?: string;
  readonly connection?: string;
  readonly error?: string;
}

export interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Clients that send one request after another, each on its keep-alive connection, until stopped. */
export class Load {
  readonly tried: Tried[] = [];
  private running = true;
  private readonly clients: Promise<void>[];
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    clients: number,
    next: (index: number) => Asked,
    /** Pause between two requests of one client, in milliseconds. */
    private readonly pauseMs = 0,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: clients });
    this.clients = Array.from({ length: clients }, () => this.client(next));
  }

  /** Lets requests in flight finish. @returns the outcome of all requests. */
  async stop(): Promise<Tried[]> {
    this.running = false;
    await Promise.all(this.clients);
    this.agent.destroy();
    return this.tried;
  }

  private async client(next: (index: number) => Asked): Promise<void> {
    while (this.running) {
      const tried = await ask(this.url, next(this.tried.length), this.agent);
      this.tried.push(tried);
      if (tried.error === 'ECONNREFUSED') return;
      if (this.pauseMs) await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }
}

/** Limits the wait for a response, because a connection is never closed if a worker dies while accepting it. */
const TIMEOUT_MS = 30_000;

/** Sends one request. @returns its outcome. */
export function ask(url: string, { path, method = 'GET', headers = {}, body }: Asked, agent?: Agent): Promise<Tried> {
  const at = performance.now();
  return new Promise((resolve) => {
    const end = (rest: Partial<Tried>) => resolve({ at, took: performance.now() - at, ...rest });
    const sent = request(`${url}${path}`, { method, agent, headers, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', ({ message }) => end({ error: message }));
      response.on('end', () =>
        end({ status: response.statusCode, body: text, connection: response.headers.connection }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error('no response in time')));
    sent.on('error', (error: NodeJS.ErrnoException) => end({ error: error.code ?? error.message }));
    sent.end(body);
  });
}

/** Counts each outcome: `{ 200: 17, ECONNREFUSED: 4 }`. */
export function outcomes(tried: readonly Tried[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, error } of tried) {
    const outcome = String(status ?? error);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
