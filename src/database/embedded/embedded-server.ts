import { extname, join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Client, type ClientBase, type ClientConfig } from 'pg';
import type { Deadline } from '../deadline';
import { diskFull, failureOf } from '../failures';
import type { Release } from '../fair-semaphore';
import type { Server } from '../postgres/server';
import { allow, type ConnectionState, createState, drop, isDropped } from './connection-state';
import { PortStream } from './port-stream';
import { writeLastLine } from './standard-error';
import type { WorkerOptions, WorkerReport, WorkerRequest } from './worker';

/** The state of each connection. */
const states = new WeakMap<ClientBase, ConnectionState>();

/**
 * The embedded database as a server: PGlite runs in a worker thread, and node-postgres connects to it over message ports. A
 * Unix socket would not work on Windows, or with a path of over 107 bytes. A child process would survive if this process is
 * killed, and would then write to the same files as the next process.
 */
export class EmbeddedServer implements Server {
  readonly Client: typeof Client;
  readonly preamble = '';
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
        // The failed statement rejects with the error. Without a listener, this event would crash the process.
        this.on('error', () => undefined);
      }
    };
  }

  /**
   * Starts the worker. If the worker ends unexpectedly later, this process ends, too.
   * @param onEnd called when the worker has ended.
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
        if (failure !== undefined) writeLastLine(`the embedded database has failed: ${failure}`);
        // Without a `failure`, the worker itself has written the reason to stderr; see `guardedFiles`.
        process.exit(code || 1);
      });
    });
  }

  /** Returns no SQL, since all connections share one session. The worker sets the settings of this session. */
  settings(): string {
    return '';
  }

  /** Opens a connection outside of a pool, for statements of the service itself. */
  async connect(): Promise<Client> {
    return await new this.Client().connect();
  }

  /** A running statement cannot be cancelled. At the deadline, statements that have not started are dropped. */
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

  /** Replaces a read-only error with a disk-full error, since only a full disk makes the embedded database read-only. */
  translate(error: unknown): unknown {
    return failureOf(error) === 'read-only' ? diskFull(error) : error;
  }

  /** Closes the database. All connections must be closed already. */
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

/** Set explicitly, so that node-postgres does not read these options from the environment. */
const ENDPOINT = { host: 'localhost', port: 5432, user: 'postgres', database: 'postgres', password: '', ssl: false };

function stateOf(client: ClientBase): ConnectionState {
  return states.get(client) as ConnectionState;
}
