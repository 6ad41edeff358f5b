import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port';

/** A proxy between the gateway and a server that can simulate network failures. */
export class TcpProxy {
  private readonly pairs = new Map<Socket, Socket>();
  private server: Server;
  private silent = false;

  private constructor(
    private readonly target: URL,
    private readonly port: number,
  ) {
    this.server = createServer();
  }

  /** @param url the server's URL, which may contain a password; the default port is PostgreSQL's. */
  static async start(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url), await freePort());
    await proxy.comeBack();
    return proxy;
  }

  /** The server's URL, through the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  get connections(): number {
    return this.pairs.size;
  }

  /** Simulates that the server is down: resets open connections and stops listening. */
  async goAway(): Promise<void> {
    this.server.close();
    this.resetAll();
  }

  /** Listens again. */
  async comeBack(): Promise<void> {
    this.silent = false;
    this.server = createServer((client) => this.forward(client)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Resets all connections; new ones are accepted. */
  resetAll(): void {
    for (const [client, server] of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Stops forwarding in both directions, on existing and new connections, without closing anything. */
  fallSilent(): void {
    this.silent = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  /** Resumes forwarding, including what was held back. */
  speak(): void {
    this.silent = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  async close(): Promise<void> {
    await this.goAway();
  }

  private forward(client: Socket): void {
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    this.pairs.set(client, server);
    const end = () => {
      this.pairs.delete(client);
      client.destroy();
      server.destroy();
    };
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => client.write(data));
    for (const socket of [client, server]) {
      socket.on('error', () => undefined).on('close', end);
      if (this.silent) socket.pause();
    }
  }
}
