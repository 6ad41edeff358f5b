import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters, LocalJWKSet } from 'jose';
import { ProblemError } from '../errors/errors';
import { isTrustedUrl } from './trusted-url';

/** Minimum interval between two reads of the keys, so that unknown key ids cannot make the gateway flood the issuer. */
const MIN_INTERVAL_MS = 5_000;
/** The keys are read again after this time. If that fails, the known keys stay in use. */
const MAX_AGE_MS = 600_000;
/** Time limit of a request to the issuer. */
const FETCH_MS = 5_000;

const OUT_OF_REACH = new ProblemError(
  'SERVICE_UNAVAILABLE',
  "The signing keys of the tokens' issuer cannot be read at the moment. Try again shortly.",
);

interface IssuerKeysOptions {
  /** The expected `iss` of tokens. */
  readonly issuer: string;
  /** The URL of the keys. By default, the URL in the issuer's discovery document (OpenID Connect Discovery 1.0, section 4). */
  readonly jwksUrl?: string;
  /** Called when reading the keys begins to fail. */
  onFailure(error: unknown): void;
}

/** The public keys with which an identity provider signs tokens (a JSON Web Key Set, RFC 7517). Read on demand. */
export class IssuerKeys {
  private known: { readonly find: LocalJWKSet; readonly ids: ReadonlySet<unknown> } | undefined;
  private readAt = -Infinity;
  private attemptedAt = -Infinity;
  private isFailing = false;
  private reading: Promise<boolean> | undefined;

  constructor(
    private readonly options: IssuerKeysOptions,
    private readonly createKeySet: (jwks: JSONWebKeySet) => LocalJWKSet,
  ) {}

  /**
   * Finds the key for a token's header. Reads the keys again if the header names an unknown key id.
   * @returns `undefined` if the issuer has no such key.
   * @throws ProblemError `SERVICE_UNAVAILABLE` if the issuer cannot be asked now; JWKSMultipleMatchingKeys if the header
   * names no key id, and several keys fit.
   */
  async find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    if (performance.now() - this.readAt > MAX_AGE_MS) {
      const read = this.read();
      if (!this.known) await read;
    }
    if (!this.known) throw OUT_OF_REACH;
    const key = await this.findKnown(header);
    // A known key with another algorithm: reading the keys again would not help.
    if (key || (header.kid !== undefined && this.known.ids.has(header.kid))) return key;
    if (!(await this.read())) throw OUT_OF_REACH;
    return this.findKnown(header);
  }

  /** Reads the keys, so that the first token does not wait, and a wrong setting is logged at the start. */
  preload(): void {
    void this.read();
  }

  private async findKnown(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await this.known?.find(header);
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_JWKS_NO_MATCHING_KEY') return undefined;
      throw error;
    }
  }

  /** @returns whether the keys were read now. All callers share a read. */
  private read(): Promise<boolean> {
    if (this.reading) return this.reading;
    if (performance.now() - this.attemptedAt < MIN_INTERVAL_MS) return Promise.resolve(false);
    this.attemptedAt = performance.now();
    this.reading = this.fetchKeys().then(
      (jwks) => {
        this.known = { find: this.createKeySet(jwks), ids: new Set(jwks.keys.map(({ kid }) => kid)) };
        this.readAt = performance.now();
        this.isFailing = false;
        return true;
      },
      (error) => {
        if (!this.isFailing) this.options.onFailure(error);
        this.isFailing = true;
        return false;
      },
    );
    void this.reading.then(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async fetchKeys(): Promise<JSONWebKeySet> {
    const url = this.options.jwksUrl ?? (await this.discover());
    const jwks = (await fetchJson(url)) as Partial<JSONWebKeySet> | null;
    if (!Array.isArray(jwks?.keys)) throw new Error(`${url} has no JSON Web Key Set`);
    return jwks as JSONWebKeySet;
  }

  private async discover(): Promise<string> {
    const { issuer } = this.options;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const found = (await fetchJson(url)) as { issuer?: unknown; jwks_uri?: unknown } | null;
    if (found?.issuer !== issuer) throw new Error(`${url} is about another issuer than JWT_ISSUER`);
    if (!isTrustedUrl(found.jwks_uri)) throw new Error(`${url} has no jwks_uri with https`);
    return found.jwks_uri;
  }
}

async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS), redirect: 'error' });
  if (!response.ok) throw new Error(`${url} responded with status ${response.status}`);
  return response.json();
}
