import { createHash, createHmac } from 'node:crypto';
import { exportSPKI, type JWTPayload } from 'jose';
import { type TokenSettings, Tokens } from '../../src/access/tokens';
import { PLANS } from '../../src/rate-limit/plans';
import { IdentityProvider } from './identity-provider';

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

const failures: unknown[] = [];
let now: number;
beforeEach(() => {
  now = Date.now();
  failures.length = 0;
});

const create = (settings: Partial<TokenSettings> = {}) =>
  Tokens.create({
    issuer: provider.issuer,
    audience: 'shop',
    plan: 'FREE',
    scopes: ['READ', 'ORDER'],
    now: () => now,
    onFailure: (error) => failures.push(error),
    ...settings,
  });

const check = async (token: string, settings?: Partial<TokenSettings>) => {
  const tokens = await create(settings);
  return tokens.known(token) ?? tokens.verify(token);
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const ANN = () => `user:${createHash('sha256').update(`${provider.issuer}\nann`).digest('base64url').slice(0, 22)}`;

test('accepts a genuine token, whose caller can be computed from iss and sub', async () => {
  const endsAt = (Math.floor(now / 1000) + 330) * 1000;
  expect(await check(await provider.sign())).toEqual({
    id: ANN(),
    recordedAs: 'users',
    user: ANN(),
    sub: 'ann',
    plan: 'FREE',
    quota: PLANS.FREE,
    scopes: new Set(['READ', 'ORDER']),
    expiresAt: expect.closeTo(endsAt, -4),
  });
});

test.each(['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'])('accepts signatures with %s', async (alg) => {
  const other = await IdentityProvider.start(alg);
  expect(await check(await other.sign(), { issuer: other.issuer })).toMatchObject({ user: expect.any(String) });
  await other.stop();
});

test.each<[provider: string, claims: JWTPayload, header: object]>([
  ['Auth0', { aud: ['shop', 'https://tenant.auth0.com/userinfo'], azp: 'app', scope: 'openid' }, {}],
  ['Keycloak', { aud: 'shop', typ: 'Bearer', realm_access: { roles: ['write'] } }, {}],
  ['Cognito', { aud: undefined, client_id: 'shop', token_use: 'access' }, { typ: undefined }],
  ['Entra', { aud: 'shop', ver: '2.0', tid: 't', nbf: 1 }, {}],
  ['Supabase', { aud: 'shop', role: 'authenticated', session_id: 's' }, {}],
  ['Clerk', { aud: undefined, azp: 'shop', sid: 's' }, {}],
  ['RFC 9068', {}, { typ: 'at+jwt' }],
])('accepts tokens in the form of %s', async (_provider, claims, header) => {
  expect(await check(await provider.sign(claims, header))).toMatchObject({ user: expect.any(String) });
});

test.each<[claim: string | undefined, claims: JWTPayload, scopes: string[]]>([
  [undefined, { scope: 'write' }, ['READ', 'ORDER']],
  ['scope', { scope: 'openid WRITE' }, ['READ', 'ORDER', 'WRITE']],
  ['roles', { roles: ['Write', 'admin', 7] }, ['READ', 'ORDER', 'WRITE']],
  ['roles', { roles: 'admin ADMIN' }, ['READ', 'ORDER']],
  ['roles', { roles: [{ toString: 1 }, null] }, ['READ', 'ORDER']],
  ['roles', { roles: { toString: 1 } }, ['READ', 'ORDER']],
  ['realm_access.roles', { realm_access: { roles: ['write'] } }, ['READ', 'ORDER', 'WRITE']],
  ['https://shop.example/roles', { 'https://shop.example/roles': ['write'] }, ['READ', 'ORDER', 'WRITE']],
  ['a.b', { a: 'write' }, ['READ', 'ORDER']],
  ['__proto__.x', {}, ['READ', 'ORDER']],
])('grants the scopes of the claim %s in %j', async (scopeClaim, claims, scopes) => {
  expect(await check(await provider.sign(claims), { scopeClaim })).toMatchObject({ scopes: new Set(scopes) });
});

const CHARGED = () => ({ id: `rejected:${ANN()}`, recordedAs: 'users', quota: PLANS.FREE });
const seconds = (delta: number) => Math.floor(Date.now() / 1000) + delta;

test.each<[what: string, claims: () => JWTPayload, reason: RegExp]>([
  ['an expired one', () => ({ exp: seconds(-31) }), /expired/],
  ['one that is not valid yet', () => ({ nbf: seconds(40) }), /not valid yet/],
  ['one without exp', () => ({ exp: undefined }), /no claim exp/],
  ['one with a text as exp', () => ({ exp: 'soon' as never }), /claim exp/],
  ['one for another audience', () => ({ aud: 'bank' }), /another audience/],
  ['one without an audience', () => ({ aud: undefined }), /another audience/],
  ['one for several other audiences', () => ({ aud: ['bank', 'shop2'] }), /another audience/],
])('charges a genuine token that is not accepted to a count of its user: %s', async (_what, claims, reason) => {
  expect(await check(await provider.sign(claims()))).toEqual({
    reason: expect.stringMatching(reason),
    chargedTo: CHARGED(),
  });
});

test.each(['dpop+jwt', 'logout+jwt', 5])('charges a genuine token of the type %j to the same count', async (typ) => {
  const reason = 'The type of the token is not JWT.';
  expect(await check(await provider.sign({}, { typ }))).toEqual({ reason, chargedTo: CHARGED() });
});

test('tolerates 30 seconds between the clocks', async () => {
  expect(await check(await provider.sign({ exp: seconds(-25) }))).toMatchObject({ user: expect.any(String) });
  expect(await check(await provider.sign({ nbf: seconds(25) }))).toMatchObject({ user: expect.any(String) });
});

test.each<[what: string, token: () => Promise<string> | string, reason: RegExp]>([
  ['no signature', async () => `${part({ alg: 'none' })}.${(await provider.sign()).split('.')[1]}.`, /algorithm/],
  [
    'HS256 with the public key as its secret',
    async () => {
      const text = `${part({ alg: 'HS256' })}.${(await provider.sign()).split('.')[1]}`;
      const secret = await exportSPKI(provider.publicKey);
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    },
    /algorithm/,
  ],
  ['another issuer', () => provider.sign({ iss: 'https://evil.example' }), /another issuer/],
  ['no issuer', () => provider.sign({ iss: undefined }), /no claim iss/],
  ['no subject', () => provider.sign({ sub: undefined }), /no claim sub/],
  ['an empty subject', () => provider.sign({ sub: '' }), /claim sub/],
  [
    'another type of another issuer',
    () => provider.sign({ iss: 'https://evil.example' }, { typ: 'dpop+jwt' }),
    /issuer/,
  ],
  ['a number as its type', async () => `${part({ alg: 'RS256', typ: 5 })}.e30.e30`, /signature|malformed/],
  [
    'an object as its type',
    async () => `${part({ alg: 'RS256', typ: { toString: 1 } })}.e30.e30`,
    /signature|malformed/,
  ],
  ['a critical extension', () => provider.sign({}, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'), /malformed/],
  ['another payload', async () => (await provider.sign()).replace(/\.\w/, '.A'), /signature|malformed/],
  ['no JSON', () => 'a.b.c', /malformed/],
  ['empty parts', () => '..', /malformed/],
  ['too many bytes', () => `${'a'.repeat(9000)}.${'b'.repeat(9000)}.c`, /longer than/],
])('charges a token that is not genuine to its address: %s', async (_what, token, reason) => {
  const checked = await check(await token());
  expect(checked).toEqual({ reason: expect.stringMatching(reason) });
});

test('follows no URL in the header', async () => {
  const evil = await IdentityProvider.start();
  const token = await evil.sign(
    { iss: provider.issuer },
    { jku: `${evil.issuer}/keys`, x5u: evil.issuer, kid: undefined },
  );
  expect(await check(token)).toMatchObject({ reason: expect.stringMatching(/signature/) });
  const byKeyId = await evil.sign({ iss: provider.issuer }, { kid: `${evil.issuer}/keys` });
  await expect(check(byKeyId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(evil.paths).toEqual([]);
  await evil.stop();
});

test('a known key id with another algorithm is rejected without asking the issuer again', async () => {
  const other = await IdentityProvider.start('ES256');
  await other.rotate('ES256', 'shared');
  const { issuer } = provider;
  await provider.addKey('RS256', 'shared');
  const tokens = await create();
  const before = provider.paths.length;
  const forged = await other.sign({ iss: issuer });
  expect(await tokens.verify(forged)).toMatchObject({ reason: expect.stringMatching(/unknown key/) });
  expect(provider.paths.slice(before).filter((path) => path === '/keys').length).toBeLessThanOrEqual(1);
  await other.stop();
});

describe("the issuer's keys", () => {
  let own: IdentityProvider;
  beforeEach(async () => {
    own = await IdentityProvider.start();
  });
  afterEach(() => own.stop());
  const reads = () => own.paths.filter((path) => path === '/keys').length;

  test('are found by discovery, even for an issuer that ends with a slash, or at JWT_JWKS_URL', async () => {
    const slashed = await IdentityProvider.start('RS256', '/');
    expect(await check(await slashed.sign(), { issuer: slashed.issuer })).toMatchObject({ user: expect.any(String) });
    expect(slashed.paths).toEqual(['/.well-known/openid-configuration', '/keys']);
    await slashed.stop();
    expect(
      await check(await own.sign({ iss: 'https://other.example' }), {
        issuer: 'https://other.example',
        jwksUrl: `${own.issuer}/keys`,
      }),
    ).toMatchObject({ user: expect.any(String) });
    expect(own.paths).toEqual(['/keys']);
  });

  test('are read again for an unknown key id, but at most once in 5 seconds for any number of tokens', async () => {
    const clock = jest.spyOn(performance, 'now');
    const start = performance.now();
    clock.mockImplementation(() => start);
    const tokens = await create({ issuer: own.issuer });
    expect(await tokens.verify(await own.sign())).toMatchObject({ user: expect.any(String) });
    await own.rotate();
    const rotated = await own.sign();
    await expect(tokens.verify(rotated)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(reads()).toBe(1);
    clock.mockImplementation(() => start + 5_001);
    const flood = await Promise.all(Array.from({ length: 50 }, (_, i) => own.sign({}, { kid: `invented-${i}` })));
    const checked = await Promise.all([rotated, ...flood].map((token) => tokens.verify(token)));
    expect(checked[0]).toMatchObject({ user: expect.any(String) });
    expect(new Set(checked.slice(1).map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ reason: 'The token is signed with an unknown key.' })]),
    );
    expect(reads()).toBe(2);
    clock.mockRestore();
  });

  test('stay in use while the issuer is down; without known keys, tokens get 503', async () => {
    const clock = jest.spyOn(performance, 'now');
    const start = performance.now();
    clock.mockImplementation(() => start);
    own.isFailing = true;
    const tokens = await create({ issuer: own.issuer });
    const token = await own.sign();
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(failures).toHaveLength(1);
    own.isFailing = false;
    clock.mockImplementation(() => start + 5_001);
    expect(await tokens.verify(token)).toMatchObject({ user: expect.any(String) });
    own.isFailing = true;
    clock.mockImplementation(() => start + 700_000);
    expect(await tokens.verify(await own.sign({ sub: 'ben' }))).toMatchObject({ user: expect.any(String) });
    expect(reads()).toBe(1);
    clock.mockRestore();
  });

  test('of a token without a key id can be any of the keys', async () => {
    await own.addKey('RS256', 'second');
    const second = await own.sign({}, { kid: undefined });
    expect(await check(second, { issuer: own.issuer })).toMatchObject({ user: expect.any(String) });
  });
});

test('a known token needs no key, until it expires', async () => {
  const own = await IdentityProvider.start();
  const tokens = await create({ issuer: own.issuer });
  const token = await own.sign();
  expect(tokens.known(token)).toBeUndefined();
  const first = await tokens.verify(token);
  expect(tokens.known(token)).toBe(first);
  await own.stop();
  now += 360_000;
  expect(tokens.known(token)).toBeUndefined();
  expect(await tokens.verify(token)).toMatchObject({ reason: 'The token has expired.' });
});
