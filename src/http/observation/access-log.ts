import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

/** The log entry of an answered request, or of an operation over WebSocket. */
export interface Answered {
  readonly requestId: string;
  readonly method: string;
  readonly path?: string;
  /** The id of the caller's key, or its address. */
  readonly caller: string | undefined;
  readonly operation: string;
  /** The name given by the GraphQL client. */
  readonly operationName: string | undefined;
  readonly status: number;
  /** Duration; logged to a tenth of a millisecond. */
  ms: number;
}

/** Maximum time that a line waits, in milliseconds, and maximum number of lines waiting. */
const PATIENCE_MS = 10;
const MOST = 256;

/**
 * Writes a log line for every answered request, in batches: one by one, each line would take several times as long.
 * Lines are lost only if the process is killed.
 */
export class Journal {
  private lines: Answered[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** @param isPatient whether lines may wait; they may not if they depend on the active context, such as a trace. */
  constructor(
    private readonly logger: FastifyBaseLogger,
    private isPatient = true,
  ) {}

  note(answered: Answered): void {
    const count = this.lines.push(answered);
    if (!this.isPatient || count === MOST) this.write();
    else this.timer ??= setTimeout(() => this.write(), PATIENCE_MS);
  }

  /** Writes waiting lines before the server closes or the process exits. */
  closeWith(app: FastifyInstance): void {
    const write = () => this.write();
    // Before the logger flushes its buffer.
    process.prependListener('exit', write);
    app.addHook('onClose', (_app, done) => {
      process.removeListener('exit', write);
      write();
      // Any later line is written at once.
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
