import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { reasonOf } from '../failures';
import { valueTypes } from '../postgres/prepared-query';
import { PortStream } from './port-stream';
import { createSlots } from './session-protocol';
import { writeLastLine } from './standard-error';
import type { WorkerOptions } from './worker';

/** Set explicitly, so that node-postgres does not read these options from the environment. */
const ENDPOINT = { host: 'localhost', port: 5432, user: 'postgres', database: 'postgres', password: '', ssl: false };

/**
 * The thread in which PGlite runs, and the only client of its session. The client's connection is a message port. A Unix
 * socket would not work on Windows, or with a path of over 107 bytes. A child process would survive if this process is
 * killed, and would then write to the same files as the next process.
 */
export class DatabaseThread {
  readonly slots = createSlots();
  readonly stream: PortStream;
  readonly client: Client;
  private readonly worker: Worker;
  private isClosing = false;

  private constructor(files: WorkerOptions['files']) {
    const { port1, port2: port } = new MessageChannel();
    const workerData: WorkerOptions = { files, port, slots: this.slots };
    this.worker = new Worker(join(__dirname, 'worker.js'), { workerData, transferList: [port] });
    this.stream = new PortStream(port1);
    this.client = new Client({ ...ENDPOINT, types: valueTypes, pipeline: true, stream: () => this.stream });
    // The failed statements reject with the error. Without a listener, this event would crash the process.
    this.client.on('error', () => undefined);
  }

  /**
   * Starts the thread. If it ends unexpectedly later, this process ends, too.
   * @param onEnd called when the thread has ended.
   * @throws Error with a one-line message if the database cannot be opened.
   */
  static start(files: WorkerOptions['files'], onEnd: () => void = () => undefined): Promise<DatabaseThread> {
    const thread = new DatabaseThread(files);
    const { client, worker } = thread;
    let isOpen = false;
    let failure: string | undefined;
    return new Promise((resolve, reject) => {
      worker.on('error', (error) => {
        failure = reasonOf(error);
      });
      worker.on('exit', (code) => {
        onEnd();
        if (thread.isClosing) return;
        if (!isOpen && failure !== undefined) return reject(new Error(failure));
        // Without a `failure`, the worker itself has written the reason to stderr; see `guardedFiles`.
        if (failure !== undefined) writeLastLine(`the embedded database has failed: ${failure}`);
        process.exit(code || 1);
      });
      // If the connection fails, the worker ends.
      client.connect((error: Error | undefined) => {
        isOpen = !error;
        if (isOpen) resolve(thread);
      });
    });
  }

  /** Closes the database after all statements that were sent have ended. */
  async close(): Promise<void> {
    this.isClosing = true;
    const ended = new Promise((resolve) => this.worker.once('exit', resolve));
    await this.client.end();
    await ended;
  }
}
