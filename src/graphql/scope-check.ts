import type { Caller } from '../access/caller';
import type { Scope } from '../database/generated/client';
import { ProblemError } from './errors';

/** Why this caller may not run an operation that requires `scope`; `undefined` if it may. */
export function refuseScope({ scopes, apiKey }: Caller, scope: Scope | undefined): ProblemError | undefined {
  if (scope === undefined || scopes.has(scope)) return undefined;
  const needed = `needs an API key with the scope ${scope}`;
  return apiKey
    ? new ProblemError('FORBIDDEN', `This operation ${needed}; this key does not have it.`)
    : new ProblemError('UNAUTHENTICATED', `This operation ${needed}.`);
}
