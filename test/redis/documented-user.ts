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
