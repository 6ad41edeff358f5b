// @ts-check
import { graphql } from './gateway.js';

/**
 * @typedef {import('./usage-chart.js').Day} Day
 * @typedef {{ name: string, limit: number, remaining: number, resetAt: string }} Window
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
 * @property {{ windows: Window[] }} rateLimit
 * @property {Day[]} usage
 * @typedef {{ nodes: Key[], totalCount: number, totalCountRelation: string, pageInfo: { hasNextPage: boolean, endCursor: string } }} Keys
 * @typedef {{ apiKey: { id: string, name: string } | null, requests: number, refused: number, bans: number }} Caller
 */

const KEY = `id name plan scopes perMinute perDay createdAt expiresAt revokedAt lastUsedAt bannedUntil
  rateLimit { windows { name limit remaining resetAt } } usage(days: 30) { date requests refused bans }`;

/**
 * Runs an operation. @param {string} query @param {object} variables @returns {Promise<any>} its data
 * @throws {Error} whose message is for the reader.
 */
async function ask(query, variables) {
  const response = await graphql(query, variables).catch(() => {
    throw new Error('The server does not respond.');
  });
  const { data, errors } = await response.json();
  if (errors?.length) throw new Error(inWords(errors[0].message));
  return data;
}

/** Names of fields of the form in place of paths in the input. @param {string} message */
function inWords(message) {
  /** @type {Record<string, string>} */
  const names = { name: 'Name', perMinute: 'Per minute', perDay: 'Per day', scopes: 'Scopes', expiresAt: 'Expires' };
  return message.replace(/\binput\.(\w+)(?:\.\d+)?:/g, (_path, field) => `${names[field] ?? field}:`);
}

/** @param {{ after: string | null, search: string, isActive: boolean | null }} page @returns {Promise<Keys>} */
export async function listKeys(page) {
  const query = `query Keys($after: String, $search: String, $isActive: Boolean) {
    apiKeys(first: 20, after: $after, search: $search, isActive: $isActive) {
      totalCount totalCountRelation pageInfo { hasNextPage endCursor } nodes { ${KEY} }
    }
  }`;
  return (await ask(query, page)).apiKeys;
}

/** @param {number} days @returns {Promise<Caller[]>} */
export async function topCallers(days) {
  const query = `query TopCallers($days: Int!) {
    topCallers(days: $days, first: 5) { apiKey { id name } requests refused bans }
  }`;
  return (await ask(query, { days })).topCallers;
}

/** @param {object} input @returns {Promise<string>} the whole key */
export async function createKey(input) {
  const query = 'mutation CreateKey($input: NewApiKey!) { createApiKey(input: $input) { secret } }';
  return (await ask(query, { input })).createApiKey.secret;
}

/** @param {string} id @param {object} input */
export function updateKey(id, input) {
  return ask('mutation UpdateKey($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { id } }', {
    id,
    input,
  });
}

/** @param {string} id @param {number} graceSeconds @returns {Promise<string>} the whole key with its new secret */
export async function rotateKey(id, graceSeconds) {
  const query = `mutation RotateKey($id: ID!, $graceSeconds: Int!) {
    rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret }
  }`;
  return (await ask(query, { id, graceSeconds })).rotateApiKey.secret;
}

/** @param {string} id */
export function revokeKey(id) {
  return ask('mutation RevokeKey($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
}

/** @param {string} caller a key id or an address @returns {Promise<boolean>} whether there was one */
export async function liftBan(caller) {
  return (await ask('mutation LiftBan($caller: String!) { liftBan(caller: $caller) }', { caller })).liftBan;
}
