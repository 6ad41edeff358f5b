import { hasEnded, hashSecret, validUntil } from '../../src/access/key-format';

const now = 1_800_000_000_000;
const invalid = new Date('28/11/2026 07:00:00 UTC');

test.each<[string, Date | null, Date | null, boolean]>([
  ['without dates has not ended', null, null, false],
  ['has not ended before its expiry', null, new Date(now + 1), false],
  ['has ended at its expiry', null, new Date(now), true],
  ['has ended once it is revoked', new Date(now), null, true],
  ['has ended if its expiry is not a date', null, invalid, true],
  ['has ended if its revocation is not a date', invalid, null, true],
])('a key %s', (_what, revokedAt, expiresAt, hasIt) => {
  expect(hasEnded({ revokedAt, expiresAt }, now)).toBe(hasIt);
});

test.each([
  ['a date that cannot be read', invalid],
  ['no date', null],
])('the previous secret is not valid with %s', (_what, previousSecretUntil) => {
  const stored = { secretHash: hashSecret('new'), previousSecretHash: hashSecret('old'), previousSecretUntil };
  expect(validUntil('old', stored)).toBe(-Infinity);
});
