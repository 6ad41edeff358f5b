import type { FormattedExecutionResult } from 'graphql';
import type { OperationRequest, SentVariables } from '../graphql/context';
import type { Executor } from '../graphql/executor';
import type { Outcome } from '../graphql/outcome';
import { type Computation, RunningSubscription } from '../graphql/subscriptions';
import type { Input } from './inputs';
import type { PreparedRoute } from './prepared-route';
import { type RestRequest, variablesOf } from './request-variables';
import { pageOf } from './response';
import type { Additions } from './rest-route';
import type { EventFormat } from './server-sent-events';

/** The header in which EventSource sends the `id` of the last event when it connects again. */
export const LAST_EVENT_ID = 'Last-Event-ID';

/** A list whose items can be read as a stream. */
export class StreamedList {
  /** The route of the list, without the page size. The page size depends on how far behind the reader is. */
  readonly route: PreparedRoute;
  /** The same list for a request whose cursor is in {@link LAST_EVENT_ID}, which errors then name. */
  private readonly resumed: PreparedRoute;
  readonly cursor: Input;
  readonly limit: Input;

  /** @throws Error if the list cannot be streamed. */
  constructor(
    list: PreparedRoute,
    readonly additions: Additions,
  ) {
    const { cursor, limit, others } = inputsOfStream(list);
    this.cursor = cursor;
    this.limit = limit;
    this.route = { ...list, inputs: { ...list.inputs, query: others } };
    const errorPaths = new Map(list.errorPaths).set(cursor.errorPath, LAST_EVENT_ID);
    this.resumed = { ...this.route, errorPaths };
  }

  /** Where a request begins. @throws ProblemError `BAD_USER_INPUT`. */
  read(request: RestRequest): { readonly route: PreparedRoute; readonly variables: SentVariables } {
    const variables = { ...variablesOf(this.route, request), [this.limit.variable]: this.limit.rule.maximum };
    const id = request.headers[LAST_EVENT_ID.toLowerCase()];
    if (!id) return { route: this.route, variables };
    return { route: this.resumed, variables: { ...variables, [this.cursor.variable]: id } };
  }
}

/** @throws Error if an input or the field that a stream needs is missing. */
function inputsOfStream({ inputs, payload }: PreparedRoute) {
  const others = new Map(inputs.query);
  const cursor = others.get('cursor');
  const limit = others.get('limit');
  if (!cursor || !limit) throw new Error('a stream needs the variables $cursor and $limit');
  if (!payload.members.some(({ key }) => key === 'cursor'))
    throw new Error('a stream needs the field cursor of its items');
  others.delete('limit');
  return { cursor, limit, others };
}

const OVER: IteratorResult<object, undefined> = { value: undefined, done: true };

/**
 * One stream of a list's items. It runs the list's operation for one page after the other, and waits when it has read all
 * items. As an iterator, it returns an object for each page to read.
 */
export class ListStream implements AsyncIterator<object, undefined>, EventFormat {
  readonly end = '';
  private readonly route: PreparedRoute;
  private variables: SentVariables;
  /** The result of the first page until it is sent. */
  private first: FormattedExecutionResult | undefined;
  /** The cursor of the last item or comment that was sent. */
  private sentCursor: string | undefined;
  /** Whether there may be items that have not been read. */
  private hasMore = false;
  private isOver = false;
  private wake: () => void = () => undefined;
  private stopListening: () => void = () => undefined;

  /** @param continuation returns the request of each further operation. */
  constructor(
    private readonly list: StreamedList,
    request: RestRequest,
    private readonly executor: Executor,
    private readonly continuation: () => OperationRequest,
  ) {
    ({ route: this.route, variables: this.variables } = list.read(request));
  }

  /**
   * Reads the first page, so that its error is the response.
   * @throws ExpectedError as {@link pageOf}; Ended if the client has left.
   */
  async start(operation: OperationRequest, onEnd: (ended: RunningSubscription) => void): Promise<RunningSubscription> {
    // Listens before the page is read, so that items which are added in the meantime are not missed.
    this.stopListening = this.list.additions.listen(() => {
      this.hasMore = true;
      this.wake();
    });
    try {
      const { body } = await this.run(operation);
      pageOf(this.route, body);
      operation.session.requester.deadline.check();
      this.first = body;
    } catch (error) {
      this.stopListening();
      throw error;
    }
    return new RunningSubscription(this, () => this.readPage(), { operationRequest: operation }, onEnd);
  }

  async next(): Promise<IteratorResult<object, undefined>> {
    if (!this.isOver && !this.first && !this.hasMore)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    return this.isOver ? OVER : { value: this, done: false };
  }

  async return(): Promise<IteratorResult<object, undefined>> {
    this.isOver = true;
    this.stopListening();
    this.wake();
    return OVER;
  }

  /** The items of a page as events, each with its cursor as the id. An error ends the stream. */
  textOf(result: FormattedExecutionResult): string {
    const [error] = result.errors ?? [];
    if (error) {
      this.isOver = true;
      return `: ${error.extensions?.code}: ${error.message.replace(/\s+/g, ' ')}\n\n`;
    }
    const { nodes, hasNextPage, endCursor } = pageOf(this.route, result);
    const { cursor, limit } = this.list;
    const items = nodes.map((node) => {
      this.sentCursor = String((node as { cursor: unknown }).cursor);
      return `id: ${this.sentCursor}\ndata: ${this.route.writeItem(node)}\n\n`;
    });
    this.hasMore ||= hasNextPage;
    // A reader that is not behind gets few items at a time, so its operations have a low estimated cost.
    const length = hasNextPage ? limit.rule.maximum : limit.fallback;
    this.variables = { ...this.variables, [cursor.variable]: endCursor, [limit.variable]: length };
    // The first id is sent at once. Otherwise a client that began at the end would begin at a later end when it reconnects.
    return this.sentCursor === undefined ? this.comment() : items.join('');
  }

  /** Sends the cursor if it has moved past items that the caller does not see, so that the client continues from this cursor. */
  comment(): string {
    const cursor = this.variables[this.list.cursor.variable];
    if (this.first || cursor === this.sentCursor) return ':\n\n';
    this.sentCursor = String(cursor);
    return `:\nid: ${cursor}\n\n`;
  }

  private readPage(): Computation<FormattedExecutionResult> {
    const { first } = this;
    this.first = undefined;
    if (first) return { result: Promise.resolve(first), leave: () => undefined };
    const operation = this.continuation();
    const result = this.run(operation);
    return { result: result.then(({ body }) => body), leave: () => operation.session.requester.deadline.end() };
  }

  private run(operation: OperationRequest): Promise<Outcome> {
    this.hasMore = false;
    return this.executor.run(this.route.document, null, this.variables, operation);
  }
}
