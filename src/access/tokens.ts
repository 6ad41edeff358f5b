import { createHash } from 'node:crypto';
import type { CryptoKey, JWTPayload, JWTVerifyOptions, JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Scope } from '../graphql/caller';
import { KeyRejection } from '../http/identification';
import { PLANS } from '../rate-limit/plans';
import { type Account, rejectedTokensOf, userCaller } from './account';
import { IssuerKeys } from './issuer-keys';
import { USERS } from './usage';

/** The settings for tokens of an identity provider (docs/sign-in.md). */
export interface TokenSettings {
  /** The exact `iss`. */
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl?: string;
  readonly plan: keyof typeof PLANS;
  /** What every user may do. */
  readonly scopes: readonly Scope[];
  /** The claim that adds scopes: its name, or a path of names with dots. */
  readonly scopeClaim?: string;
}

interface TokensOptions extends TokenSettings {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Called when the issuer's keys cannot be read. */
  onFailure(error: unknown): void;
}

/** The caller that a token identifies. */
export type User = Account & { readonly expiresAt: number };

/** Only signatures with public keys. A provider that signs with a shared secret is not supported. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const TYPES = ['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt'];
/** How far the clocks of the issuer and of this host may differ, in seconds. */
const TOLERANCE = 30;
/** How long a result is remembered, in milliseconds. */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 10_000;
const MAX_LENGTH = 16 * 1024;
/** Only these scopes can be granted by a claim. No token makes its user an administrator. */
const GRANTABLE: readonly Scope[] = ['READ', 'ORDER', 'WRITE'];

/** Whether a credential has the form of a token: three parts with dots. */
export function isToken(presented: string): boolean {
  return presented.split('.', 4).length === 3;
}

/** Checks the tokens (JWT, RFC 7519) with which end users of apps sign in at an identity provider. */
export class Tokens {
  /** The results for genuine tokens, by the hash of the token. Other tokens are not remembered. */
  private readonly results = new LRUCache<string, User | KeyRejection>({ max: MAX_REMEMBERED });

  private constructor(
    private readonly jose: typeof import('jose'),
    private readonly keys: IssuerKeys,
    private readonly options: TokensOptions,
  ) {}

  static async create(options: TokensOptions): Promise<Tokens> {
    const jose = await import('jose');
    const keys = new IssuerKeys(options, jose.createLocalJWKSet);
    keys.preload();
    return new Tokens(jose, keys, options);
  }

  /** The result for a token that was verified before; `undefined` for another token. */
  known(token: string): User | KeyRejection | undefined {
    if (token.length > MAX_LENGTH) return TOO_LONG;
    const result = this.results.get(hashOf(token));
    return result instanceof KeyRejection || (result && result.expiresAt > this.options.now()) ? result : undefined;
  }

  /**
   * Finds the user of a token. A request with a genuine token that is not accepted, such as an expired token, is charged to a
   * separate quota of the user. Forgotten browser tabs therefore use up no other quota.
   * @throws ProblemError `SERVICE_UNAVAILABLE` if the issuer's keys cannot be read.
   */
  async verify(token: string): Promise<User | KeyRejection> {
    const hash = hashOf(token);
    const { errors } = this.jose;
    let verified: JWTVerifyResult;
    try {
      verified = await this.verified(token);
    } catch (error) {
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
        return this.reject(hash, error.payload, claimFault(error));
      if (error instanceof errors.JOSEError) return new KeyRejection(tokenFault(error));
      throw error;
    }
    const { payload, protectedHeader } = verified;
    const type: unknown = protectedHeader.typ;
    if (typeof payload.sub !== 'string' || !payload.sub) return new KeyRejection(claimReason('sub'));
    // The issuer may sign any JSON value as the type.
    if (type !== undefined && !(typeof type === 'string' && TYPES.includes(type.toLowerCase())))
      return this.reject(hash, payload, 'The type of the token is not JWT.');
    if (!this.isAudience(payload)) return this.reject(hash, payload, 'The token is for another audience.');
    const expiresAt = (Number(payload.exp) + TOLERANCE) * 1000;
    const { plan } = this.options;
    const user = { ...userCaller(this.idOf(payload.sub), payload.sub, plan, this.scopesOf(payload)), expiresAt };
    this.results.set(hash, user, { ttl: REMEMBERED_MS });
    return user;
  }

  /** Verifies the signature, and the claims other than `aud`. */
  private async verified(token: string): Promise<JWTVerifyResult> {
    const { jwtVerify, decodeProtectedHeader, errors } = this.jose;
    const header = headerOf(token, decodeProtectedHeader);
    if (!header) throw new errors.JWTInvalid('malformed');
    if (!ALGORITHMS.includes(String(header.alg))) throw new errors.JOSEAlgNotAllowed('algorithm');
    const options: JWTVerifyOptions = {
      algorithms: ALGORITHMS,
      issuer: this.options.issuer,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: TOLERANCE,
      currentDate: new Date(this.options.now()),
    };
    const verifyWith = (key: CryptoKey) => jwtVerify(token, key, options);
    try {
      const key = await this.keys.find(header);
      if (!key) throw new errors.JWKSNoMatchingKey();
      return await verifyWith(key);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token without a key id: any key of the issuer may have signed it.
      for await (const key of error) {
        try {
          return await verifyWith(key);
        } catch (failure) {
          if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  /** Rejects a token with a valid signature. */
  private reject(hash: string, { iss, sub }: JWTPayload, reason: string): KeyRejection {
    if (iss !== this.options.issuer || typeof sub !== 'string' || !sub) return new KeyRejection(reason);
    const chargedTo = { id: rejectedTokensOf(this.idOf(sub)), recordedAs: USERS, quota: PLANS[this.options.plan] };
    const rejection = new KeyRejection(reason, chargedTo);
    // A token that is not valid yet may become valid.
    if (reason !== NOT_YET) this.results.set(hash, rejection, { ttl: REMEMBERED_MS });
    return rejection;
  }

  /** `aud` contains the audience. Without `aud`, `client_id` (Cognito) or `azp` (Clerk) is the audience. */
  private isAudience({ aud, client_id: client, azp }: JWTPayload): boolean {
    const { audience } = this.options;
    if (aud !== undefined) return [aud].flat().includes(audience);
    return client === audience || azp === audience;
  }

  /** The id of a user as a caller. An app can compute it from `iss` and `sub`. */
  private idOf(sub: string): string {
    const hash = createHash('sha256').update(`${this.options.issuer}\n${sub}`).digest('base64url');
    return `user:${hash.slice(0, 22)}`;
  }

  private scopesOf(payload: JWTPayload): readonly Scope[] {
    const { scopes, scopeClaim } = this.options;
    const claimed = scopeClaim === undefined ? undefined : claimAt(payload, scopeClaim);
    const words = (Array.isArray(claimed) ? claimed : [claimed])
      .filter((value) => typeof value === 'string')
      .flatMap((value) => value.toUpperCase().split(' '));
    return [...scopes, ...GRANTABLE.filter((scope) => words.includes(scope))];
  }
}

const TOO_LONG = new KeyRejection(`The token is longer than ${MAX_LENGTH} bytes.`);

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function headerOf(token: string, decode: typeof import('jose').decodeProtectedHeader) {
  try {
    return decode(token);
  } catch {
    return undefined;
  }
}

/** The claim with this name, or else at this path, such as `realm_access.roles`. */
function claimAt(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let value: unknown = payload;
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

const NOT_YET = 'The token is not valid yet.';

function claimFault({ code, claim, reason }: { code: string; claim: string; reason: string }): string {
  if (code === 'ERR_JWT_EXPIRED') return 'The token has expired.';
  if (reason === 'missing') return `The token has no claim ${claim}.`;
  if (claim === 'iss') return 'The token is from another issuer.';
  return claim === 'nbf' ? NOT_YET : claimReason(claim);
}

function claimReason(claim: string): string {
  return `The claim ${claim} of the token is not valid.`;
}

function tokenFault({ code }: { code: string }): string {
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return 'The token is signed with an algorithm that is not allowed.';
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'The token is signed with an unknown key.';
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'The signature of the token is wrong.';
  return 'The token is malformed.';
}
