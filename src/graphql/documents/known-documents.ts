import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { TrustedDocuments } from './trusted-documents';

/** Total characters of persisted queries. */
const MAX_PERSISTED = 1024 * 1024;

/** The texts of automatic persisted queries by hash. Apollo checks and adds them, as a cache with keys of its own. */
export class PersistedQueries {
  private readonly texts = new LRUCache<string, string>({
    maxSize: MAX_PERSISTED,
    sizeCalculation: (text, key) => text.length + key.length,
  });

  find(sha256Hash: string): string | undefined {
    return this.texts.get(`apq:${sha256Hash}`);
  }

  async get(key: string): Promise<string | undefined> {
    return this.texts.get(key);
  }

  async set(key: string, text: string): Promise<void> {
    this.texts.set(key, text);
  }

  async delete(key: string): Promise<void> {
    this.texts.delete(key);
  }
}

/** Total characters of cached documents. A parsed document takes a few hundred bytes per character. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * Parsed and validated documents by their text. They have passed every check that does not depend on the caller
 * or the variables, so they can run at once. Trusted documents are here from the start and are never evicted.
 */
export class KnownDocuments {
  readonly persisted = new PersistedQueries();
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_document, text) => text.length + 1,
  });

  constructor(
    private readonly trusted?: TrustedDocuments,
    /** Whether only trusted documents may run. */
    readonly onlyTrusted = false,
  ) {}

  /** @param document the parsed `text`: valid, and allowed for any caller. */
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

  /** Whether the trusted documents setting lets any caller run this document. */
  admits(document: DocumentNode): boolean {
    return !this.onlyTrusted || this.trusted?.lists(document) === true;
  }
}
