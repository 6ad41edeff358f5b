import { KeyAuthenticator } from '../../src/access/key-authenticator';

/** Lets the key `user ada READ` stand for the token of the user `ada` with the scope READ. */
export function asUsers(): void {
  const { authenticate } = KeyAuthenticator.prototype;
  jest.spyOn(KeyAuthenticator.prototype, 'authenticate').mockImplementation(function (
    this: KeyAuthenticator,
    key,
    origin,
  ) {
    const [kind, user, scope] = key.split(' ');
    if (kind !== 'user' || !user) return authenticate.call(this, key, origin);
    const scopes = new Set(scope === 'WRITE' ? (['READ', 'WRITE'] as const) : (['READ'] as const));
    return { id: `user:${user}`, user, quota: { perMinute: 1_000_000, perDay: 10_000_000 }, plan: 'BUSINESS', scopes };
  });
}
