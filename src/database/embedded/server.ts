import { extname, join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import type { Deadline } from '../deadline';
import { diskFull, failureOf } from '../failures';
import type { Release } from '../fair-semaphore';
import type { Server } from '../postgres/server';
import { allow, type ConnectionState, createState, drop, isDropped } from './connection-state';
import { PortStream } from './port-stream';
import type { WorkerOptions, WorkerReport, WorkerRequest } from './worker';

/** The state of each connection. */
const states = new WeakMap<ClientBase, ConnectionState>();

/**
 * The embedded database as a server: PGlite in a worker thread, to which node-postgres connects over message ports. A Unix
 * socket in the data directory would do as well, but not on Windows, nor with a path of over 107 bytes. A child process would
 * outlive this one if that is killed, and go on writing beside its successor.
 */
export class EmbeddedServer implements Server {
  readonly Client: typeof Client;
  readonly requirement = '';
  readonly isPooled = false;
  readonly isRemote = false;
  private isClosing = false;

  private constructor(private readonly worker: Worker) {
    const server = this;
    this.Client = class extends Client {
      constructor(config?: ClientConfig) {
        const state = createState();
        super({ ...config, ...ENDPOINT, stream: () => server.openStream(state) });
        states.set(this, state);
        // Each failure reaches the statement it concerns; without a listener the event would crash the process.
        this.on('error', () => undefined);
      }
    };
  }

  /**
   * Starts the worker. If it ends by itself later, this process ends, too.
   * @param onEnd called when it has ended.
   * @throws Error with a one-line message if the database cannot be opened.
   */
  static start(options: WorkerOptions, onEnd: () => void = () => undefined): Promise<EmbeddedServer> {
    const worker = new Worker(join(__dirname, `worker${extname(__filename)}`), { workerData: options });
    const server = new EmbeddedServer(worker);
    return new Promise((resolve, reject) => {
      let isOpen = false;
      let failure: string | undefined;
      worker.on('message', (report: WorkerReport) => {
        if ('failure' in report) failure ??= report.failure;
        else {
          isOpen = true;
          resolve(server);
        }
      });
      worker.on('error', (error) => {
        failure ??= error.message;
      });
      worker.on('exit', (code) => {
        onEnd();
        if (server.isClosing) return;
        if (!isOpen && failure !== undefined) return reject(new Error(failure));
        if (failure !== undefined)
          process.stderr.write(`petstore-gateway: the embedded database has failed: ${failure}\n`);
        // Otherwise the worker has written the reason: see `guardedFiles`.
        process.exit(code || 1);
      });
    });
  }

  /** The worker has all settings. */
  settings(): string {
    return '';
  }

  /** Connects outside of a pool, for statements of the service itself. */
  async connect(): Promise<Client> {
    return await new this.Client().connect();
  }

  /** Nothing that runs can be cancelled. Once the deadline ends, nothing starts that has not started. */
  hold(client: ClientBase & { release(error?: boolean): void }, deadline: Deadline, leave: Release): void {
    const { release } = client;
    const state = stateOf(client);
    const stop = deadline.onEnd(() => drop(state));
    client.release = (error) => {
      stop();
      allow(state);
      release.call(client, error);
      leave();
    };
  }

  isDropped(client: ClientBase): boolean {
    return isDropped(stateOf(client));
  }

  /** It is read-only only while its disk is full. */
  translate(error: unknown): unknown {
    return failureOf(error) === 'read-only' ? diskFull(error) : error;
  }

  /** Closes the database, once all connections are closed. */
  async close(): Promise<void> {
    this.isClosing = true;
    const ended = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.postMessage(undefined satisfies WorkerRequest);
    await ended;
  }

  private openStream(state: ConnectionState): PortStream {
    const { port1, port2 } = new MessageChannel();
    this.worker.postMessage({ port: port2, state } satisfies WorkerRequest, [port2]);
    return new PortStream(port1, state);
  }
}

/** So that node-postgres reads none of this from the environment. */
const ENDPOINT = { host: 'localhost', port: 5432, user: 'postgres', database: 'postgres', password: '', ssl: false };

function stateOf(client: ClientBase): ConnectionState {
  return states.get(client) as ConnectionState;
}
