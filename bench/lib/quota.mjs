import { Redis } from 'ioredis';
import { API_KEY, redis } from './servers.mjs';

const MOST = 2_147_483_647;

const KEY = 'query Key { viewer { apiKey { id } } }';
const RAISE = `mutation Raise($id: ID!, $input: ApiKeyUpdate!) {
  updateApiKey(id: $id, input: $input) { perMinute perDay }
}`;

/** Deletes the request count that earlier runs left in Redis for the key. It may exceed the quota of the new key. */
export async function forgetUse() {
  const client = new Redis(redis, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.del(`ratelimit:${API_KEY.split('_')[1]}`);
  } catch {
    // If Redis cannot be reached, the servers that need it report the error.
  } finally {
    client.disconnect();
  }
}

/** Gives the benchmark's key a quota that no run uses up; warns if that fails. */
export async function raiseQuota({ name, url }) {
  try {
    const { viewer } = await graphql(url, KEY);
    await graphql(url, RAISE, { id: viewer.apiKey.id, input: { perMinute: MOST, perDay: MOST } });
  } catch (error) {
    console.error(`${name}: the key's quota could not be raised; requests may be rate-limited: ${error.message}`);
  }
}

async function graphql(url, query, variables) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}
