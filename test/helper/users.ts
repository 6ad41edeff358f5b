import { userCaller } from '../../src/access/account';
import { KeyAuthenticator } from '../../src/access/key-authenticator';
import type { Scope } from '../../src/graphql/caller';

const UNLIMITED = { perMinute: 1_000_000, perDay: 10_000_000 };

/**
 * Lets the key `user ada ORDER` stand for a token with which `ada` has signed in, with the scope ORDER. The caller id is
 * `user:ada`.
 */
export function asUsers(): void {
  const { authenticate } = KeyAuthenticator.prototype;
  jest.spyOn(KeyAuthenticator.prototype, 'authenticate').mockImplementation(function (
    this: KeyAuthenticator,
    key,
    origin,
  ) {
    const [kind, user, scope] = key.split(' ');
    if (kind !== 'user' || !user) return authenticate.call(this, key, origin);
    return { ...userCaller(`user:${user}`, user, 'BUSINESS', [scope as Scope]), quota: UNLIMITED };
  });
}
