import DataLoader from 'dataloader';
import type { GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import type { Session } from '../database/database';
import type {
  FieldSelection,
  JsonFormat,
  Nested,
  PageJsonSelection,
  RowJsonSelection,
} from '../database/reading/selection';
import { ProblemError, type ProblemSummary } from '../errors/errors';
import type { Precondition } from '../errors/precondition';
import type { Meter } from '../rate-limit/meter';
import type { Caller } from './caller';

/**
 * The variables of an operation as the executor gets them: as the client sent them, or already coerced
 * (`Api.sendsCoerced`).
 */
export type SentVariables = Readonly<Record<string, unknown>>;

declare const COERCED: unique symbol;

/** The variables after their coercion to the types of the operation (GraphQL, section 6.1.2), with default values. */
export type CoercedVariables = SentVariables & { readonly [COERCED]: true };

export const NO_VARIABLES = {} as CoercedVariables;

/** The idempotency key of an operation. */
export interface IdempotencyRequest {
  /** The raw header value. */
  readonly header: string;
  /**
   * The id of a REST operation. It identifies the operation instead of its document, since the document's text may differ in
   * the next version of the gateway.
   */
  readonly operationId?: string;
}

/** What the log and the metrics say about an operation. */
export interface OperationSummary {
  readonly kind: OperationTypeNode;
  /** The kind of the operation and the schema name of its root field: `query pets`. */
  readonly label: string;
  /** The client's operation name. */
  readonly name: string | undefined;
}

/** Observes operations for the log and the metrics. */
export interface Observer {
  /** Called before an operation runs. */
  onOperation(operation: OperationSummary): void;
  /** Called with errors whose details are hidden from the caller. */
  onInternalError(error: unknown): void;
  /** Called with each error that the response reports. */
  onProblem(problem: ProblemSummary): void;
}

/** The interface that received a request: GraphQL or REST. */
export interface Api {
  readonly name: 'graphql' | 'rest';
  /** The format in which the database may write rows as JSON. */
  readonly json: JsonFormat;
  /**
   * Whether the interface coerces variables before it sends them. Otherwise the executor coerces them. graphql-js coerces the
   * variables of every operation again. Therefore each scalar must accept its own values as input, and the value of each enum
   * value must be its name.
   */
  readonly sendsCoerced?: true;
}

export const GRAPHQL_API: Api = { name: 'graphql', json: { ids: 'string', nulls: 'null' } };

/** A request for an operation, without its document and variables. */
export interface OperationRequest {
  readonly session: Session;
  readonly caller: Caller;
  readonly meter: Meter;
  readonly requestId: string;
  readonly observer: Observer;
  readonly api: Api;
  /**
   * Whether the operation continues a stream, which was charged at its start. The operation's cost is taken from the caller's
   * allowance for free operations, like the cost of an event.
   */
  readonly isContinuation?: true;
  /** Whether the request must not change anything: a GET or HEAD request. Such a request cannot run mutations. */
  readonly isSafe?: boolean;
  /** Ignored unless the operation is a mutation. */
  readonly idempotency?: IdempotencyRequest;
  /** The condition from `If-Match` and `If-None-Match`, which applies to the operation's only change. */
  readonly precondition?: Precondition;
}

/**
 * Creates the request for an operation. Sets the `observer` of the incoming request, from which the log and the metrics read.
 * @param incoming an HTTP request, or an operation over WebSocket.
 */
export type CreateOperationRequest<Incoming> = (
  incoming: Incoming,
  api: Api,
  idempotency?: IdempotencyRequest,
) => OperationRequest;

/** The part of an operation's analysis (operation.ts) that its resolvers need. */
interface ResolverAnalysis {
  /** The number of requests that the operation is charged for. */
  readonly countedFields: number;
  /** Whether the operation only reads, so that loaded rows stay valid until its end. */
  readonly isQuery?: boolean;
  /** The selections of all rows, by the place of their field (declared-fields.ts). By default, rows are read whole. */
  readonly selections?: ReadonlyMap<string, FieldSelection>;
}

/** What PostgreSQL writes for a root field that is read as one JSON value (leaves.ts). */
export type Leaf = RowJsonSelection | PageJsonSelection;

/** The leaves of one execution. */
interface Leaves {
  /** By the response key of their root field. */
  readonly byKey: ReadonlyMap<string, Leaf>;
  /** The queries of the pages that are nested in leaves. */
  readonly nested: Nested | undefined;
}

/** The context value of one execution of an operation. */
export class Context {
  private made: Loaders | undefined;

  constructor(
    readonly operationRequest: OperationRequest,
    private readonly analysis: ResolverAnalysis,
    /** The session for the operation's statements. If the operation has an idempotency key, this is a transaction. */
    readonly session: Session,
    /** `undefined` if the operation runs without leaves. */
    private readonly leaves?: Leaves,
    /** The data loaders that all executions for a subscription event share; `undefined` for other operations. */
    readonly eventLoaders?: Loaders,
  ) {}

  get countedFields(): number {
    return this.analysis.countedFields;
  }

  /** Created on demand, since most operations load no related rows. */
  get loaders(): Loaders {
    this.made ??= this.eventLoaders ?? new Loaders(this.analysis.isQuery);
    return this.made;
  }

  /** The leaf at a path; `undefined` if the field there is no leaf. */
  leafAt({ prev, key }: GraphQLResolveInfo['path']): Leaf | undefined {
    const leaf = prev ? undefined : this.leaves?.byKey.get(String(key));
    const nested = this.leaves?.nested;
    return leaf && nested ? { ...leaf, nested } : leaf;
  }

  /**
   * The fields to read of the rows at a place (`placeOf`). The rows of an event are read whole, since subscribers with different
   * selections share them.
   */
  selectionAt(place: string): FieldSelection | undefined {
    return this.eventLoaders ? undefined : this.analysis.selections?.get(place);
  }
}

/** Fetches the values of many keys together; keys without a value are absent from the map. */
type Batch<Value, Key = bigint> = (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;

/**
 * The data loaders of one operation. There is one loader for each relation, and for the pages of a relation one for each set
 * of arguments. So one statement reads the related rows of all parent rows, however often the relation is selected.
 */
export class Loaders {
  private readonly byPlace = new Map<string, DataLoader<unknown, unknown>>();

  /** @param cache whether loaded values are reused. In a mutation, reused values could be stale in the next root field. */
  constructor(private readonly cache = false) {}

  /**
   * Loads the value of `key` in one batch with the other keys of the same place.
   * @param place the name of what is loaded, such as `Pet.category`.
   * @param required the name of the value for the error message. Set only if the value must exist.
   * @throws ProblemError `NOT_FOUND` if a required value does not exist.
   */
  load<Value, Key = bigint>(
    place: string,
    key: Key,
    batch: Batch<Value, Key>,
    required?: string,
  ): Promise<Value | undefined> {
    let loader = this.byPlace.get(place);
    if (!loader) {
      loader = new DataLoader(
        async (keys) => {
          const values = await batch([...new Set(keys as Key[])]);
          return keys.map((each) => values.get(each as Key) ?? (required ? new DeletedMeanwhile(required) : undefined));
        },
        { cache: this.cache },
      );
      this.byPlace.set(place, loader);
    }
    return loader.load(key) as Promise<Value | undefined>;
  }
}

/** The error for a missing value. A foreign key guarantees that the value existed when the referring row was read. */
export class DeletedMeanwhile extends ProblemError {
  constructor(name: string) {
    super('NOT_FOUND', `The ${name} has been deleted in the meantime.`);
  }
}
