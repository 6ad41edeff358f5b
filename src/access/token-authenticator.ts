import type { Caller } from '../graphql/caller';
import { type Authenticator, KeyRejection, type KeySource } from '../http/identification';
import type { Limiter } from '../rate-limit/limiter';
import type { LookUps } from '../rate-limit/look-ups';
import { PLANS } from '../rate-limit/plans';
import { isToken, type Tokens, type User } from './tokens';

/**
 * Finds callers by the tokens of an identity provider, if `JWT_ISSUER` is set. All other credentials go to the authenticator of
 * API keys.
 */
export class TokenAuthenticator implements Authenticator {
  /** The last user of each connection. If the client sends the same token again, the token is not hashed. */
  private readonly latest = new WeakMap<object, { readonly token: string; readonly user: User }>();

  constructor(
    private readonly keys: Authenticator,
    private readonly tokens: Tokens,
    private readonly lookUps: LookUps,
    private readonly limits: Limiter,
    private readonly now: () => number,
  ) {}

  authenticate(presented: string, source: KeySource): Caller | KeyRejection | Promise<Caller | KeyRejection> {
    return isToken(presented) ? this.authenticateToken(presented, source) : this.keys.authenticate(presented, source);
  }

  private authenticateToken(token: string, source: KeySource): Caller | KeyRejection | Promise<Caller | KeyRejection> {
    const { socket, address, deadline } = source;
    const latest = socket && this.latest.get(socket);
    if (latest?.token === token && latest.user.address === address && latest.user.expiresAt > this.now())
      return latest.user;
    const known = this.tokens.known(token);
    if (known) return this.remember(token, source, known);
    source.beforeLookUp?.(address);
    return this.lookUps.run(address, deadline, async () => {
      try {
        return this.remember(token, source, await this.tokens.verify(token));
      } catch (error) {
        // Requests whose tokens name unknown key ids must not be free. An address with no quota left is not charged, since that
        // would be a step towards a ban.
        const subject = { id: address, quota: PLANS.FREE };
        const { verdict, inForce } = await this.limits.peek(subject);
        if (verdict === 'allowed' && inForce.remaining > 0) await this.limits.take(subject, 1, 'counted');
        throw error;
      }
    });
  }

  private remember(token: string, { socket, address }: KeySource, known: User | KeyRejection): User | KeyRejection {
    if (known instanceof KeyRejection) return known;
    const user = { ...known, address };
    if (socket) this.latest.set(socket, { token, user });
    return user;
  }
}
