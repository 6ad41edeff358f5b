import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port';

/** A proxy that simulates network failures between the gateway and a server. */
export class TcpProxy {
  private readonly pairs = new Map<Socket, Socket>();
  private server: Server | undefined;
  private isSilent = false;

  private constructor(
    private readonly target: URL,
    private readonly port: number,
  ) {}

  /** @param url the server's URL, which may contain a password; the default port is 5432. */
  static async start(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url), await freePort());
    await proxy.comeBack();
    return proxy;
  }

  /** The server's URL, through the proxy. */
  get url(): string {
    return Object.assign(new URL(this.target), { host: `127.0.0.1:${this.port}` }).href;
  }

  get connections(): number {
    return this.pairs.size;
  }

  /** Simulates that the server is down: resets connections and stops listening. */
  async goAway(): Promise<void> {
    this.server?.close();
    this.resetAll();
  }

  /** Listens again. */
  async comeBack(): Promise<void> {
    this.isSilent = false;
    this.server = createServer((client) => this.forward(client)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Resets all connections. New connections are accepted. */
  resetAll(): void {
    for (const [client, server] of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Stops forwarding in both directions, on existing and new connections, without closing anything. */
  fallSilent(): void {
    this.isSilent = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  /** Resumes forwarding, including the data that was held back. */
  speak(): void {
    this.isSilent = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  close(): Promise<void> {
    return this.goAway();
  }

  private forward(client: Socket): void {
    const server = connect(Number(this.target.port || 5432), this.target.hostname);
    this.pairs.set(client, server);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (data) => to.write(data));
      from
        .on('error', () => undefined)
        .on('close', () => {
          this.pairs.delete(client);
          to.destroy();
        });
      if (this.isSilent) from.pause();
    }
  }
}
