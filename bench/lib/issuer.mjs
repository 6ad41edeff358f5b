import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const AUDIENCE = 'bench';
const KEY_ID = 'bench';

/**
 * Starts an identity provider on loopback.
 * @returns `env`: the gateway's settings for its tokens; `sign`, which makes the token of a user; and `close`
 */
export async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'ES256' }] };
  const server = createServer((_request, response) => response.end(JSON.stringify(jwks)));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const env = { JWT_ISSUER: issuer, JWT_JWKS_URL: issuer, JWT_AUDIENCE: AUDIENCE, JWT_PLAN: 'BUSINESS' };
  const sign = (sub) =>
    new SignJWT({ sub, scope: 'openid profile', iat: 0 })
      .setProtectedHeader({ alg: 'ES256', kid: KEY_ID })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setExpirationTime('1h')
      .sign(privateKey);
  return { env, sign, close: () => server.close() };
}
