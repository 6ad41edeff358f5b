import { createHash } from 'node:crypto';
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Requester } from '../database/database';
import type { Fault } from '../errors/errors';
import { argumentPath, literalRules } from '../errors/input-checks';
import { limitError } from '../rate-limit/limit-status';
import type { Meter } from '../rate-limit/meter';
import type { Caller } from './caller';
import { isCounted } from './directives';
import { fieldsOf, limitErrors, REPEATS, usesQuota } from './document-limits';
import { isUsualIntrospection } from './introspection-answers';
import { mostAnalyses } from './operation';
import { OperationQueue } from './operation-queue';
import { idFormsRule } from './scalars';
import { subscriptionRule } from './subscription-rule';

/** Limits on documents. The estimated cost of their operations is limited separately. */
export interface DocumentLimits {
  /** Maximum number of tokens. The parser rejects longer documents. */
  readonly tokens: number;
  /** Maximum number of nesting levels of fields and inline fragments. */
  readonly depth: number;
}

/** Maximum number of errors reported for one document; an additional error says that there are more. */
const MAX_ERRORS = 20;
/** The memory in bytes (bench/README.md), per character of a parsed document and per field of an operation's analysis (operation.ts). */
const CHARACTER_BYTES = 120;
const FIELD_BYTES = 1000;
/** Maximum memory of all cached documents and their analyses, in bytes. */
const MAX_BYTES = 64_000_000;
/** A larger document is not cached, so that it does not displace all other documents. */
const MAX_BYTES_OF_ONE = 8_000_000;
/** Maximum length of an unknown document that is parsed for a caller without quota. */
const MAX_UNPAID = 1_000;
/** A new document with more characters than this takes two iterations of the event loop, and delays the next for longer. */
const LARGE = 4_000;
/** Maximum total number of characters of all automatic persisted queries. */
const MAX_PERSISTED = 1024 * 1024;

/** `subscriptionRule` replaces one rule of graphql-js. */
const SPECIFIED_RULES = specifiedRules.filter((rule) => rule !== SingleFieldSubscriptionsRule);

const NOT_IN_SAFELIST = new GraphQLError(
  'This server runs only trusted documents, and this document is not in its list.',
  { extensions: { code: 'QUERY_NOT_IN_SAFELIST' } },
);

/** The list of trusted documents. */
export interface TrustedList {
  /** @param hash the SHA-256 of the document's text. */
  find(hash: string): DocumentNode | undefined;
  /** @param id the id in the manifest, or `sha256:` followed by the hash of the text. */
  textOf(id: string): string | undefined;
  /** Whether a document is in the list, ignoring white space, comments and the order of definitions. */
  lists(document: DocumentNode): boolean;
}

/** The cache interface of Apollo Server. */
interface Cache<Value> {
  get(key: string): Promise<Value | undefined>;
  set(key: string, value: Value): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * A cache of parsed and validated documents, by the SHA-256 of their text. Apollo Server and the subscription transports
 * share it. The cache contains the trusted documents from the start, and never evicts them.
 */
export class Documents {
  readonly parseOptions: { readonly maxTokens: number };
  /** Apollo Server's document store. Its keys end with the hash. Documents are added by {@link validateAndAdd}. */
  readonly store: Cache<DocumentNode> = {
    get: async (key) => this.find(key.slice(-HASH_LENGTH)),
    set: async () => undefined,
    delete: async () => undefined,
  };
  /** The texts of automatic persisted queries. */
  readonly persisted: Cache<string>;
  private readonly known = new LRUCache<string, DocumentNode>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_BYTES_OF_ONE,
    sizeCalculation: bytesOf,
    disposeAfter: (document) => this.knownTexts.delete(textOf(document)),
  });
  /** The texts of known documents. Finding a document by its text avoids hashing. */
  private readonly knownTexts = new Set<string>();
  private readonly maxDepth: number;
  private readonly rules: readonly ValidationRule[];
  /** Whether a root field of queries uses no quota: introspection, `rateLimit`, `viewer`. Returns false for unknown fields. */
  private readonly isFree = (name: string): boolean => {
    const field = this.schema.getQueryType()?.getFields()[name];
    return name.startsWith('__') || (field !== undefined && !isCounted(field));
  };
  /** The errors of invalid documents. */
  private readonly errors = new WeakMap<DocumentNode, readonly GraphQLError[]>();

  /** @param onlyTrusted whether only trusted documents may run. */
  constructor(
    readonly schema: GraphQLSchema,
    limits: DocumentLimits,
    private readonly queue = new OperationQueue(),
    readonly trusted?: TrustedList,
    readonly onlyTrusted = false,
  ) {
    this.parseOptions = { maxTokens: limits.tokens };
    this.maxDepth = limits.depth;
    this.rules = [...SPECIFIED_RULES, subscriptionRule, idFormsRule];
    const texts = new LRUCache<string, string>({
      maxSize: MAX_PERSISTED,
      sizeCalculation: (text, key) => text.length + key.length,
    });
    this.persisted = {
      get: async (key) => texts.get(key),
      // Apollo Server also stores invalid documents.
      set: async (key, text) => void (this.has(text) && texts.set(key, text)),
      delete: async (key) => void texts.delete(key),
    };
  }

  /**
   * Parses and validates a document that does not come through Apollo Server.
   * @returns the document, or its errors.
   */
  read(text: string): DocumentNode | readonly GraphQLError[] {
    const hash = hashOf(text);
    const known = this.find(hash);
    if (known) return known;
    let document: DocumentNode;
    try {
      document = parse(text, this.parseOptions);
    } catch (error) {
      const message = reworded(error instanceof Error ? error.message : String(error));
      const { source, positions } = error instanceof GraphQLError ? error : {};
      return [new GraphQLError(message, { source, positions, extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
    }
    const errors = this.validateAndAdd(document, hash);
    return errors.length ? errors : document;
  }

  /**
   * Validates a parsed document, unless this has been done. Adds a valid document to the known documents.
   * @param hash the SHA-256 of the document's text.
   * @returns the errors.
   */
  validateAndAdd(document: DocumentNode, hash: string): readonly GraphQLError[] {
    if (this.find(hash) === document) return [];
    const before = this.errors.get(document);
    if (before) return before;
    const exceeded = limitErrors(document, this.maxDepth, this.isFree);
    const found = exceeded.length ? exceeded : this.validate(document);
    addArgumentPaths(found, document);
    if (!found.length) this.add(hash, document);
    const errors = found.map(withCode);
    this.errors.set(document, errors);
    return errors;
  }

  private validate(document: DocumentNode): readonly GraphQLError[] {
    const options = { maxErrors: MAX_ERRORS };
    const errors = validate(this.schema, document, this.rules, options);
    const isInputInvalid = errors.some(({ extensions }) => extensions.code === 'BAD_USER_INPUT');
    return isInputInvalid ? [...errors, ...validate(this.schema, document, [literalRules], options)] : errors;
  }

  /**
   * Checks whether a caller may run a valid document. With `onlyTrusted`, admins may still run other documents, and all
   * callers may run documents that use no quota.
   * @returns the error, or `undefined`.
   */
  rejectionOf(document: DocumentNode, { scopes }: Caller): GraphQLError | undefined {
    if (!this.onlyTrusted || scopes.has('ADMIN') || this.trusted?.lists(document)) return undefined;
    return usesQuota(document, this.isFree) ? NOT_IN_SAFELIST : undefined;
  }

  /** Whether a document has been parsed and validated. */
  has(text: string): boolean {
    return this.knownTexts.has(text) || this.trusted?.find(hashOf(text)) !== undefined;
  }

  /** Whether a document takes long to read. Its operation must then be analysed in a later iteration of the event loop. */
  isLargeAndUnknown(text: string): boolean {
    return text.length > LARGE && !this.has(text);
  }

  /**
   * Waits until an unknown document may be parsed and validated. Charges a long document of a caller without quota, and rejects
   * it.
   * @throws OperationRejection `RATE_LIMITED`, `KEY_BANNED`; ProblemError `RATE_LIMITED` if too many documents of the caller
   * wait; Ended if the deadline ends first.
   */
  async admitUnknown(text: string, requester: Requester, meter: Meter): Promise<void> {
    if (text.length > MAX_UNPAID && !isUsualIntrospection(text)) {
      const { verdict, inForce } = await meter.peek();
      const rejection =
        verdict === 'allowed' && inForce.remaining ? undefined : limitError(await meter.charge('counted'));
      if (rejection) throw rejection;
    }
    try {
      const release = await this.queue.enterDocument(requester, () => this.has(text));
      // The document is read in this iteration of the event loop, in which the queue starts nothing else.
      release();
      if (this.isLargeAndUnknown(text)) this.queue.expectLargeDocument();
    } catch (error) {
      await meter.waive();
      throw error;
    }
  }

  private find(hash: string): DocumentNode | undefined {
    return this.trusted?.find(hash) ?? this.known.get(hash);
  }

  private add(hash: string, document: DocumentNode): void {
    this.known.set(hash, document);
    if (this.known.has(hash)) this.knownTexts.add(textOf(document));
  }
}

const HASH_LENGTH = 64;

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? '';
}

/** The estimated memory of a document with all analyses of its operations, in bytes. */
function bytesOf(document: DocumentNode): number {
  const characters = document.loc?.end ?? 0;
  return CHARACTER_BYTES * (characters + 1) + FIELD_BYTES * fieldsOf(document) * mostAnalyses(document);
}

/** Adds the path of the argument to errors about invalid literals. Errors about variables already have a path. */
function addArgumentPaths(errors: readonly GraphQLError[], document: DocumentNode): void {
  for (const error of errors) {
    const { code, fault } = error.extensions;
    if (code !== 'BAD_USER_INPUT' || !fault) continue;
    const path = pathTo(error.nodes?.[0], document);
    if (!path) continue;
    error.extensions.details = [{ path, ...(fault as Fault) }];
    error.message = `${path}: ${error.message}`;
  }
}

/** Adds the error code to a validation error, as Apollo Server does. */
function withCode({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const code = extensions.code ?? 'GRAPHQL_VALIDATION_FAILED';
  return new GraphQLError(reworded(message), { nodes, extensions: { ...extensions, code } });
}

/** The path of the argument that contains a literal; see {@link argumentPath}. */
function pathTo(literal: ASTNode | undefined, document: DocumentNode): string {
  let path = '';
  visit(document, {
    enter(node, key, parent, _path, ancestors) {
      if (node !== literal || !parent) return undefined;
      path = argumentPath(key, [...ancestors, parent]);
      return BREAK;
    },
  });
  return path;
}

/** Rewords the messages of graphql-js about documents that are too large. */
export function reworded(message: string): string {
  return message
    .replace(/^Syntax Error: Document contains more that (\d+) tokens.*/, 'The document has more than $1 tokens.')
    .replace(/^Maximum call stack size exceeded.*/, 'The document is nested too deeply to be parsed.')
    .replace(/^Validation aborted\.$/, REPEATS);
}
