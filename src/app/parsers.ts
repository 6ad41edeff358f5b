import { isIP } from 'node:net';
import { parseKey } from '../access/secret';
import { parseConnectionString } from '../database/postgres/connection-string';
import { parseRedisAddress } from '../redis/redis-address';

// Parsers for the values of variables. Each throws an Error that says what the value should be.

export function text(value: string): string {
  return value;
}

export function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value);
    if (/^[0-9]+$/.test(value) && number >= min && number <= max) return number;
    throw new Error(`must be an integer from ${min} to ${max}, not ${JSON.stringify(value)}`);
  };
}

export function oneOf<T extends string>(...values: T[]) {
  return (value: string): T => {
    const found = values.find((each) => each === value);
    if (found) return found;
    throw new Error(`must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
  };
}

export function flag(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true';
}

/** The URL of a PostgreSQL server. */
export function postgres(value: string): string {
  parseConnectionString(value);
  return value;
}

export function redis(value: string): string {
  parseRedisAddress(value);
  return value;
}

export function apiKey(value: string): string {
  if (parseKey(value)) return value;
  throw new Error('must be of the form ps_<12 digits and lower-case letters>_<32 digits and letters>');
}

export function proxies(value: string): string[] | number {
  if (/^[0-9]+$/.test(value)) return Number(value);
  const ranges = list(value);
  const wrong = ranges.find((range) => !isRange(range));
  if (wrong === undefined) return ranges;
  throw new Error(`must be a number of hops, or addresses and CIDRs; ${JSON.stringify(wrong)} is neither`);
}

export function origins(value: string): string[] {
  const given = list(value);
  const wrong = given.find((origin) => origin !== '*' && !isOrigin(origin));
  if (wrong === undefined) return given;
  throw new Error(`must be origins such as https://shop.example; ${JSON.stringify(wrong)} is not one`);
}

/** An origin as browsers send it: scheme, host and port, nothing after them. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes('*');
}

function isRange(range: string): boolean {
  const [address = '', bits, ...rest] = range.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return most > 0 && rest.length === 0 && (bits === undefined || (/^[0-9]+$/.test(bits) && Number(bits) <= most));
}

/** @throws Error for an empty list: it would refuse everyone, while the intention was to leave the variable unset. */
function list(value: string): string[] {
  const items = value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
  if (items.length) return items;
  throw new Error(`must be a comma-separated list, not ${JSON.stringify(value)}`);
}
