import type { GatewayDatabase } from '../../src/database/gateway-database';

type Read = () => Promise<unknown[]>;

/**
 * Records the look-ups of keys that reach a database, until `jest.restoreAllMocks()`.
 * @param respond runs each look-up, or fails in its place.
 * @returns the ids that were looked up.
 */
export function watchLookUps(database: GatewayDatabase, respond = (read: Read, _id: string) => read()): string[] {
  const ids: string[] = [];
  const query = database.query.bind(database);
  jest.spyOn(database, 'query').mockImplementation((...args) => {
    const [{ text }, [id]] = args;
    if (!text.includes('from api_keys as key ')) return query(...args);
    ids.push(String(id));
    return respond(() => query(...args), String(id));
  });
  return ids;
}
