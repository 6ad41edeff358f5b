import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../database/generated/client';

/** The format of a key: `ps_`, the key id, `_`, the secret. */
const FORM = /^ps_([0-9a-z]{12})_([0-9A-Za-z]{32})$/;
export const KEY_ID_FORM = /^[0-9a-z]{12}$/;
export const KEY_ID_RULE = '12 lower-case letters or digits';

const ID_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const SECRET_ALPHABET = `${ID_ALPHABET}ABCDEFGHIJKLMNOPQRSTUVWXYZ`;

/** The parts of a key. */
export interface KeyParts {
  readonly id: string;
  readonly secret: string;
}

/** Parses a full key; `undefined` if it is malformed. */
export function parseKey(key: string): KeyParts | undefined {
  const match = FORM.exec(key);
  return match?.[1] && match[2] ? { id: match[1], secret: match[2] } : undefined;
}

/** Generates a key: about 62 bits of id and 190 bits of secret, from the system's random number generator. */
export function newKey(): KeyParts {
  return { id: randomText(12, ID_ALPHABET), secret: randomText(32, SECRET_ALPHABET) };
}

export function formatKey({ id, secret }: KeyParts): string {
  return `ps_${id}_${secret}`;
}

/** The SHA-256 of a secret. A secret has 190 random bits, so a slow password hash would add no protection. */
export function hashSecret(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(digest(secret));
}

/** The secrets of a key, as stored. */
export type StoredSecrets = Pick<ApiKey, 'secretHash' | 'previousSecretHash' | 'previousSecretUntil'>;

/** Replaces a missing hash, so that the check takes as long as the check of a wrong secret. */
const NONE = new Uint8Array(32);

/**
 * The time until which a secret is valid, in milliseconds since the Unix epoch: `Infinity` for the current secret, the end of
 * the grace period for the previous secret, `-Infinity` for a wrong secret. Both comparisons take constant time.
 * @param stored `undefined` if the key does not exist.
 */
export function validUntil(secret: string, stored: StoredSecrets | undefined): number {
  const given = digest(secret);
  const isCurrent = timingSafeEqual(given, stored?.secretHash ?? NONE);
  const isPrevious = timingSafeEqual(given, stored?.previousSecretHash ?? NONE);
  if (isCurrent) return Infinity;
  return (isPrevious && stored?.previousSecretUntil?.getTime()) || -Infinity;
}

/** Whether a key is revoked or has expired at `now`, in milliseconds since the Unix epoch. An invalid date counts as past. */
export function hasEnded({ revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: number): boolean {
  return revokedAt !== null || (expiresAt !== null && !(Number(expiresAt) > now));
}

/** Compares texts in constant time. The time taken reveals only their lengths. */
export function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}

/**
 * The SHA-256 of a secret. Hashing to a binary string and converting the string to a buffer takes half as long as hashing to
 * a buffer.
 */
function digest(secret: string): Buffer {
  return Buffer.from(hash('sha256', secret, 'binary'), 'binary');
}

function randomText(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
