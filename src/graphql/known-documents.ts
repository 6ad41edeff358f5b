import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** How many characters of documents are kept in all; a parsed document takes some tens of bytes for each. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/**
 * The documents that have been parsed and validated, by their text. What is in here has passed every check that does not
 * depend on the caller or the variables, so it can be run at once.
 */
export class KnownDocuments {
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_document, text) => text.length + 1,
  });

  /** @param document the parsed `text`, found valid. */
  add(text: string, document: DocumentNode): void {
    this.documents.set(text, document);
  }

  find(text: string): DocumentNode | undefined {
    return this.documents.get(text);
  }
}
