import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { TrustedDocuments } from './trusted-documents';

/** How many characters of documents are kept in all; what is made of a document takes some hundreds of bytes for each. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * The documents that have been parsed and validated, by their text. What is in here has passed every check that does not
 * depend on the caller or the variables, so it can be run at once. Those that are trusted are here from the start, for good.
 */
export class KnownDocuments {
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_document, text) => text.length + 1,
  });

  constructor(
    private readonly trusted?: TrustedDocuments,
    /** Whether no others may run. */
    readonly onlyTrusted = false,
  ) {}

  /** @param document the parsed `text`, found valid, and one that anybody may run. */
  add(text: string, document: DocumentNode): void {
    this.documents.set(text, document);
  }

  find(text: string): DocumentNode | undefined {
    return this.trusted?.documents.get(text) ?? this.documents.get(text);
  }

  /** The text of a trusted document. */
  textOf(id: string): string | undefined {
    return this.trusted?.textOf(id);
  }

  /** Whether anybody may run this document, as far as it depends on what is trusted. */
  admits(document: DocumentNode): boolean {
    return !this.onlyTrusted || this.trusted?.lists(document) === true;
  }
}
