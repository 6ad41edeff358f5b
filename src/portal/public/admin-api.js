// @ts-check
import { graphql } from './gateway.js';

/**
 * @typedef {object} Key
 * @property {string} id
 * @property {string} name
 * @property {string} plan
 * @property {string[]} scopes
 * @property {number | null} perMinute
 * @property {number | null} perDay
 * @property {string} createdAt
 * @property {string | null} expiresAt
 * @property {string | null} revokedAt
 * @property {string | null} lastUsedAt
 * @property {string | null} bannedUntil
 * @property {{ windows: { name: string, limit: number, remaining: number }[] }} rateLimit
 * @property {import('./usage-chart.js').Day[]} usage
 * @typedef {{ nodes: Key[], totalCount: number, totalCountRelation: string, pageInfo: { hasNextPage: boolean, endCursor: string } }} Keys
 * @typedef {import('./usage-chart.js').Usage & { apiKey: { id: string, name: string } | null }} Caller
 */

/** The labels in the form, by the name of the GraphQL input field. @type {Record<string, string>} */
const LABELS = { name: 'Name', perMinute: 'Per minute', perDay: 'Per day', scopes: 'Scopes', expiresAt: 'Expires' };

/**
 * Runs a GraphQL operation.
 * @param {string} query
 * @param {object} variables
 * @returns {Promise<any>} the `data` of the response
 * @throws {Error} with a message for the user
 */
async function run(query, variables) {
  const response = await graphql(query, variables).catch(() => {
    throw new Error('The server does not respond.');
  });
  const { data, errors } = await response.json();
  if (!errors?.length) return data;
  /** @type {string} */
  const message = errors[0].message;
  throw new Error(message.replace(/\binput\.(\w+)(?:\.\d+)?:/g, (_path, field) => `${LABELS[field] ?? field}:`));
}

/** @param {{ after: string | null, search: string, isActive: boolean | null }} page @returns {Promise<Keys>} */
export async function listKeys(page) {
  const query = `query Keys($after: String, $search: String, $isActive: Boolean) {
    apiKeys(first: 20, after: $after, search: $search, isActive: $isActive) {
      totalCount totalCountRelation pageInfo { hasNextPage endCursor }
      nodes {
        id name plan scopes perMinute perDay createdAt expiresAt revokedAt lastUsedAt bannedUntil
        rateLimit { windows { name limit remaining } } usage(days: 30) { date requests refused bans }
      }
    }
  }`;
  return (await run(query, page)).apiKeys;
}

/** @param {number} days @returns {Promise<Caller[]>} */
export async function topCallers(days) {
  const query = `query TopCallers($days: Int!) {
    topCallers(days: $days, first: 5) { apiKey { id name } requests refused bans }
  }`;
  return (await run(query, { days })).topCallers;
}

/** @param {object} input @returns {Promise<string>} the full key */
export async function createKey(input) {
  const query = 'mutation CreateKey($input: NewApiKey!) { createApiKey(input: $input) { secret } }';
  return (await run(query, { input })).createApiKey.secret;
}

/** @param {string} id @param {object} input */
export function updateKey(id, input) {
  const query = 'mutation UpdateKey($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }';
  return run(query, { id, input });
}

/** @param {string} id @param {number} graceSeconds @returns {Promise<string>} the full key with its new secret */
export async function rotateKey(id, graceSeconds) {
  const query = `mutation RotateKey($id: ID!, $graceSeconds: Int!) {
    rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret }
  }`;
  return (await run(query, { id, graceSeconds })).rotateApiKey.secret;
}

/** @param {string} id */
export function revokeKey(id) {
  return run('mutation RevokeKey($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
}

/** @param {string} caller a key id or an address @returns {Promise<boolean>} whether it was banned */
export async function liftBan(caller) {
  return (await run('mutation LiftBan($caller: String!) { liftBan(caller: $caller) }', { caller })).liftBan;
}
