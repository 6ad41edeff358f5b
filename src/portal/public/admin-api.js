// @ts-check
import { graphql } from './gateway.js';
import { inUtc } from './times.js';

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
 * @property {string | null} sharesQuotaOf the id of the key whose quota this key shares
 * @property {string | null} oldSecretExpiresAt
 * @property {string | null} revokedAt
 * @property {string | null} lastUsedAt
 * @property {string | null} bannedUntil
 * @property {{ windows: { name: string, limit: number, remaining: number }[] }} rateLimit
 * @property {import('./usage-chart.js').Day[]} usage
 * @typedef {{ nodes: Key[], totalCount: number, totalCountRelation: string, pageInfo: { hasNextPage: boolean, endCursor: string } }} Keys
 * @typedef {import('./usage-chart.js').Usage & { kind: string, apiKey: { id: string, name: string } | null }} Caller
 */

/** @typedef {{ at: string, topic: string, kind: string, objectId: string, requestId: string | null, actor: string | null }} Change */

/** An error of the API. */
export class ApiError extends Error {
  /** @param {string} message @param {{ path: string, message: string }[]} faults the faults in the values of arguments */
  constructor(message, faults = []) {
    super(message);
    this.faults = faults;
  }
}

/**
 * Runs a GraphQL operation.
 * @param {string} query
 * @param {object} variables
 * @returns {Promise<any>} the `data` of the response
 * @throws {ApiError}
 */
async function run(query, variables) {
  const { data, errors } = await graphql(query, variables)
    .then((response) => response.json())
    .catch(() => {
      throw new ApiError('The server does not respond.');
    });
  if (!errors?.length) return data;
  throw new ApiError(inUtc(errors[0].message), errors[0].extensions.details);
}

/** @param {{ after: string | null, search: string, isActive: boolean | null }} page @returns {Promise<Keys>} */
export async function listKeys(page) {
  const query = `query Keys($after: String, $search: String, $isActive: Boolean) {
    apiKeys(first: 20, after: $after, search: $search, isActive: $isActive) {
      totalCount totalCountRelation pageInfo { hasNextPage endCursor }
      nodes {
        id name plan scopes perMinute perDay sharesQuotaOf createdAt expiresAt revokedAt lastUsedAt bannedUntil
        oldSecretExpiresAt
        rateLimit { windows { name limit remaining } } usage(days: 30) { date requests refused bans }
      }
    }
  }`;
  return (await run(query, page)).apiKeys;
}

/** @param {number} days @returns {Promise<Caller[]>} */
export async function topCallers(days) {
  const query = `query TopCallers($days: Int!) {
    topCallers(days: $days, first: 5) { kind apiKey { id name } requests refused bans }
  }`;
  return (await run(query, { days })).topCallers;
}

/** @returns {Promise<Change[]>} the last hundred changes, the newest first */
export async function lastChanges() {
  const query =
    'query LastChanges { events(after: "now-100", first: 100) { nodes { at topic kind objectId requestId actor } } }';
  return (await run(query, {})).events.nodes.reverse();
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
