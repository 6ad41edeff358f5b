import type { ApiKey } from '../database/generated/client';
import type { Caller, Scope } from '../graphql/caller';
import { PLANS, type Plan, type Quota } from '../rate-limit/plans';
import { USERS } from './usage';

/** A caller with its plan. */
export interface Account extends Caller {
  readonly plan: Plan;
  /** The request's API key; `undefined` for end users and anonymous callers. */
  readonly apiKey?: StoredKey;
  /** The `sub` of an end user's token; `undefined` for other callers. */
  readonly sub?: string;
  /**
   * The hash of the secret that the request presented; `undefined` for anonymous callers. A key may rotate or revoke itself only
   * with its current secret (`requireCurrentSecret`).
   */
  readonly secretHash?: Uint8Array;
}

/** A stored key without the hashes of its secrets. If it shares the quota of another key, it has that key's plan and limits. */
export type StoredKey = Omit<ApiKey, 'secretHash' | 'previousSecretHash'>;

/** The access of anonymous callers (`ANONYMOUS_ACCESS`). */
export type AnonymousAccess = 'none' | 'read' | 'write';

/** Each scope with the scopes it includes (docs/keys.md). */
const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  READ: ['READ'],
  ORDER: ['READ', 'ORDER'],
  WRITE: ['READ', 'ORDER', 'WRITE'],
  ADMIN: ['READ', 'ORDER', 'WRITE', 'ADMIN'],
};

const ANONYMOUS_SCOPES: Readonly<Record<AnonymousAccess, ReadonlySet<Scope>>> = {
  none: new Set(),
  read: scopesOf(['READ']),
  write: scopesOf(['WRITE']),
};

/** @param address the client's address as a rate-limit subject: an IPv4 address, or an IPv6 /64 network. */
export function anonymousCaller(address: string, access: AnonymousAccess): Account {
  return { id: address, quota: PLANS.FREE, plan: 'FREE', scopes: ANONYMOUS_SCOPES[access] };
}

/**
 * The account of a caller. Every caller is an account, because only {@link anonymousCaller}, {@link keyCaller} and
 * {@link userCaller} create callers.
 */
export function accountOf(caller: Caller): Account {
  return caller as Account;
}

/** The caller that an API key identifies. Its requests count towards the key's quota, from any client address. */
export function keyCaller(apiKey: StoredKey, secretHash?: Uint8Array): Account {
  return {
    id: apiKey.id,
    windowsOf: apiKey.sharesQuotaOf ?? undefined,
    keyId: apiKey.id,
    recordedAs: apiKey.id,
    quota: quotaOf(apiKey),
    plan: apiKey.plan,
    scopes: scopesOf(apiKey.scopes),
    apiKey,
    secretHash,
  };
}

/** The form of a user's id. */
export const USER_ID_FORM = /^user:[\w-]{22}$/;

/** The caller that is charged for the genuine tokens of a user that are not accepted. @param id the user's id. */
export function rejectedTokensOf(id: string): string {
  return `rejected:${id}`;
}

/** An end user, whom a token identifies. @param id the user's id: `user:…`. @param sub the claim of its token. */
export function userCaller(id: string, sub: string, plan: keyof typeof PLANS, granted: readonly Scope[]): Account {
  return { id, recordedAs: USERS, user: id, sub, quota: PLANS[plan], plan, scopes: scopesOf(granted) };
}

function quotaOf({ plan, perMinute, perDay }: StoredKey): Quota {
  if (plan !== 'ENTERPRISE') return PLANS[plan];
  return { perMinute: perMinute ?? PLANS.FREE.perMinute, perDay: perDay ?? PLANS.FREE.perDay };
}

/** All `granted` scopes and the scopes that they include. */
function scopesOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(granted.flatMap((scope) => INCLUDES[scope]));
}
