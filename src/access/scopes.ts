import type { Scope } from '../database/generated/enums';

/** Each scope with those that it includes (contract, section 6). */
const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  READ: ['READ'],
  WRITE: ['READ', 'WRITE'],
  ADMIN: ['READ', 'WRITE', 'ADMIN'],
};

/** All scopes that `granted` come to, the included ones too. */
export function scopesOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(granted.flatMap((scope) => INCLUDES[scope]));
}
