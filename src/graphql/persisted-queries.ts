import { LRUCache } from 'lru-cache';

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
