import type { Caller } from '../graphql/caller';
import { type Keys, type Origin, Rejection } from '../http/identification';
import type { Limiter } from '../rate-limit/limiter';
import type { LookUps } from '../rate-limit/look-ups';
import { PLANS } from '../rate-limit/plans';
import { isToken, type Tokens, type User } from './tokens';

/** Finds callers by API keys, and by the tokens of an identity provider. The form of a credential tells them apart. */
export class Credentials implements Keys {
  /** The last user of each connection. If the client sends the same token again, the token is not hashed. */
  private readonly latest = new WeakMap<object, { readonly token: string; readonly user: User }>();

  constructor(
    private readonly keys: Keys,
    private readonly tokens: Tokens,
    private readonly lookUps: LookUps,
    private readonly limits: Limiter,
    private readonly now: () => number,
  ) {}

  recognise(presented: string, origin: Origin): Caller | Rejection | Promise<Caller | Rejection> {
    return isToken(presented) ? this.recogniseToken(presented, origin) : this.keys.recognise(presented, origin);
  }

  private recogniseToken(token: string, origin: Origin): Caller | Rejection | Promise<Caller | Rejection> {
    const { connection, address, deadline } = origin;
    const latest = connection && this.latest.get(connection);
    if (latest?.token === token && latest.user.address === address && latest.user.expiresAt > this.now())
      return latest.user;
    const known = this.tokens.known(token);
    if (known) return this.remember(token, origin, known);
    origin.beforeLookUp?.(address);
    return this.lookUps.run(address, deadline, async () => {
      try {
        return this.remember(token, origin, await this.tokens.verify(token));
      } catch (error) {
        // Unknown key ids must not make free requests. A caller with no quota left is not charged, since that would be a step
        // towards a ban.
        const subject = { id: address, quota: PLANS.FREE };
        const { verdict, inForce } = await this.limits.peek(subject);
        if (verdict === 'allowed' && inForce.remaining > 0) await this.limits.take(subject, 1, 'counted');
        throw error;
      }
    });
  }

  private remember(token: string, { connection, address }: Origin, known: User | Rejection): User | Rejection {
    if (known instanceof Rejection) return known;
    const user = { ...known, address };
    if (connection) this.latest.set(connection, { token, user });
    return user;
  }
}
