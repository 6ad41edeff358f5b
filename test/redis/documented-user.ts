import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENTED = readFileSync(join(__dirname, '../../docs/redis.md'), 'utf8');

/** The rules of the user `petstore` in the documentation, whose password is `secret` here. */
export const RULES = (/^ACL SETUSER petstore (.*)$/m.exec(DOCUMENTED)?.[1] ?? '')
  .replace('>password', '>secret')
  .split(' ');

/** The options of a server that has this user. */
export function userWith(rules: readonly string[]): string[] {
  return ['--user', 'petstore', ...rules];
}

/** What else it needs on the nodes of a cluster, and what a user of Sentinels needs. */
export const CLUSTER_RULES = (/In a cluster it also needs `([^`]*)`/.exec(DOCUMENTED)?.[1] ?? '').split(' ');
export const SENTINEL_RULES = (/At Sentinels with users of their own: `([^`]*)`/.exec(DOCUMENTED)?.[1] ?? '').split(
  ' ',
);
