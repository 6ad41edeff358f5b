import type { Scope } from '../database/generated/enums';

/** Each scope with the scopes it includes (contract, section 6). */
const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  READ: ['READ'],
  WRITE: ['READ', 'WRITE'],
  ADMIN: ['READ', 'WRITE', 'ADMIN'],
};

/** All `granted` scopes and those they include. */
export function scopesOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(granted.flatMap((scope) => INCLUDES[scope]));
}
