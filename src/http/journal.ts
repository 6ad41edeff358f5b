import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

/** What is told of a request, or of an operation that came over WebSocket, once it has been answered. */
export interface Answered {
  readonly requestId: string;
  readonly method: string;
  readonly path?: string;
  /** The id of its key, or its address. */
  readonly caller: string | undefined;
  readonly operation: string;
  /** What the GraphQL client calls it. */
  readonly operationName: string | undefined;
  readonly status: number;
  /** How long it took; told to the tenth. */
  ms: number;
}

/** How long a line waits at most, in milliseconds, and how many wait. */
const PATIENCE_MS = 10;
const MOST = 256;

/**
 * Writes a line into the log for all that was answered, some at a time: one by one, between other things, a line takes
 * several times as long. None is lost but where the process is killed.
 */
export class Journal {
  private lines: Answered[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** @param isPatient whether lines may wait; where they belong to what runs, such as a trace, they may not. */
  constructor(
    private readonly logger: FastifyBaseLogger,
    private isPatient = true,
  ) {}

  note(answered: Answered): void {
    const count = this.lines.push(answered);
    if (!this.isPatient || count === MOST) this.write();
    else this.timer ??= setTimeout(() => this.write(), PATIENCE_MS);
  }

  /** Has what waits written before the server, or the process, ends. */
  closeWith(app: FastifyInstance): void {
    const write = () => this.write();
    // Before the logger writes what it has gathered.
    process.prependListener('exit', write);
    app.addHook('onClose', (_app, done) => {
      process.removeListener('exit', write);
      write();
      // Who is answered after that has nothing to wait for.
      this.isPatient = false;
      done();
    });
  }

  private write(): void {
    const { lines } = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.lines = [];
    for (const line of lines) {
      line.ms = Math.round(line.ms * 10) / 10;
      this.logger.info(line, 'request');
    }
  }
}
