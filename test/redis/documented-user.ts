import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENTED = readFileSync(join(__dirname, '../../docs/redis.md'), 'utf8');

/** The ACL rules of the user `petstore` in docs/redis.md, with the password `secret`. */
export const RULES = (/^ACL SETUSER petstore (.*)$/m.exec(DOCUMENTED)?.[1] ?? '')
  .replace('>password', '>secret')
  .split(' ');

/** Command-line options of a Redis server that has the user `petstore` with these ACL rules. */
export function userWith(rules: readonly string[]): string[] {
  return ['--user', 'petstore', ...rules];
}

/** The additional ACL rules of the user in a cluster, and the ACL rules of a Sentinel user. */
export const CLUSTER_RULES = (/In a cluster it also needs `([^`]*)`/.exec(DOCUMENTED)?.[1] ?? '').split(' ');
export const SENTINEL_RULES = (/the Sentinel user needs: `([^`]*)`/.exec(DOCUMENTED)?.[1] ?? '').split(' ');
