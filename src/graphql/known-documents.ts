import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import { AlikeDocuments } from './alike-documents';
import type { Caller } from './caller';
import { faultsOf } from './document-faults';
import type { DocumentLimits } from './document-limits';
import { DocumentSize } from './document-size';
import { isFreeOfQuota } from './free-of-quota';
import { mostVariants } from './operation';
import { PersistedQueries } from './persisted-queries';
import type { TrustedDocuments } from './trusted-documents';

/** What a parsed document takes in memory for each character, and each field of a variant, as measured. */
const CHARACTER_BYTES = 120;
const FIELD_BYTES = 1000;
/** Maximum bytes of documents and their variants. */
const MAX_BYTES = 64_000_000;
/** A larger document is parsed again each time, so that one does not displace all others. */
const MAX_BYTES_OF_ONE = 8_000_000;

const NOT_IN_SAFELIST = new GraphQLError('Only trusted documents may run here; this one is not in the list.', {
  extensions: { code: 'QUERY_NOT_IN_SAFELIST' },
});

/**
 * Parsed and validated documents by their text. They have passed every check that does not depend on the caller or the
 * variables, so they can run at once. Trusted documents are here from the start and are never evicted.
 */
export class KnownDocuments {
  readonly persisted = new PersistedQueries();
  readonly alike: AlikeDocuments;
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_BYTES_OF_ONE,
    sizeCalculation: (document, text) => bytesOf(document, text),
  });

  constructor(
    readonly schema: GraphQLSchema,
    readonly limits: DocumentLimits,
    private readonly trusted?: TrustedDocuments,
    /** Whether only trusted documents may run. */
    readonly onlyTrusted = false,
  ) {
    this.alike = new AlikeDocuments(schema);
  }

  find(text: string): DocumentNode | undefined {
    return this.trusted?.documents.get(text) ?? this.documents.get(text);
  }

  textOf(id: string): string | undefined {
    return this.trusted?.textOf(id);
  }

  /** Reads a document that does not arrive through Apollo. @returns the document, or its errors. */
  read(text: string, caller: Caller): DocumentNode | readonly GraphQLError[] {
    const known = this.find(text);
    if (known) return known;
    try {
      const document = parse(text, { maxTokens: this.limits.tokens });
      const faults = this.examine(text, document, caller);
      return faults.length ? faults : document;
    } catch (error) {
      const message = reworded(error instanceof Error ? error.message : String(error));
      return [new GraphQLError(message, { extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
    }
  }

  /**
   * Why a parsed document may not run for this caller; empty if it may. One that any caller may run is known from then
   * on. If only trusted documents may run, admins may still send others, and everyone those that use no quota.
   */
  examine(text: string, document: DocumentNode, caller: Caller): readonly GraphQLError[] {
    if (this.find(text)) return [];
    const isForAll = !this.onlyTrusted || this.trusted?.lists(document) === true;
    if (!isForAll && !caller.scopes.has('ADMIN') && !isFreeOfQuota(this.schema, document)) return [NOT_IN_SAFELIST];
    const faults = faultsOf(this.schema, document, this.limits);
    if (!faults.length && isForAll) {
      this.documents.set(text, document);
      this.alike.add(text, document);
    }
    return faults;
  }
}

/** What a document takes in memory when every operation in it has run under all of its conditions. */
function bytesOf(document: DocumentNode, text: string): number {
  const { operations } = new DocumentSize(document);
  const fields = operations.reduce((sum, { size }) => sum + size.fields, 0);
  return CHARACTER_BYTES * (text.length + 1) + FIELD_BYTES * fields * mostVariants(document);
}

/** Rewords the parser's messages about documents that are too large for it. */
export function reworded(message: string): string {
  return message
    .replace(/^Syntax Error: Document contains more that (\d+) tokens.*/, 'The document has more than $1 tokens.')
    .replace(/^Maximum call stack size exceeded.*/, 'The document is nested too deeply to be parsed.');
}
