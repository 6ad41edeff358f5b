import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { startGateway } from '../helper/gateway';

/** Starts an identity provider, and a gateway that accepts its tokens for the audience `shop`. */
export async function startWithProvider(environment: Record<string, string>) {
  const provider = await IdentityProvider.start();
  const gateway = await startGateway({ JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'shop', ...environment });
  const stop = async () => {
    await gateway.close();
    await provider.stop();
  };
  return { provider, gateway, stop };
}

/** The headers of a request with a token. */
export const bearer = (token: string) => ({ 'x-api-key': undefined, authorization: `Bearer ${token}` });

interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** An identity provider with a discovery document and a key set, which can fail, be slow, and rotate its keys. */
export class IdentityProvider {
  readonly paths: string[] = [];
  isFailing = false;
  /** Whether responses wait until this is resolved. */
  hold: Promise<void> | undefined;
  private keys: SigningKey[] = [];

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  static async start(alg = 'RS256', slash = ''): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const provider = new IdentityProvider(server, `http://127.0.0.1:${port}${slash}`);
    server.on('request', async (request, response) => {
      provider.paths.push(request.url ?? '');
      await provider.hold;
      const body = provider.isFailing ? undefined : await provider.documentAt(request.url ?? '');
      response.statusCode = provider.isFailing ? 500 : body ? 200 : 404;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body ?? {}));
    });
    await provider.rotate(alg);
    return provider;
  }

  /** Replaces all keys by a new one. */
  async rotate(alg = 'RS256', kid = `key-${Math.random().toString(36).slice(2)}`): Promise<void> {
    this.keys = [];
    await this.addKey(alg, kid);
  }

  async addKey(alg: string, kid: string): Promise<void> {
    this.keys.push({ alg, kid, ...(await generateKeyPair(alg, { extractable: true })) });
  }

  get publicKey(): CryptoKey {
    return (this.keys.at(-1) as SigningKey).publicKey;
  }

  /** Signs a token of the user `ann` for the audience `shop`, valid for five minutes, with changes. */
  sign(claims: JWTPayload = {}, header: object = {}): Promise<string> {
    const { alg, kid, privateKey } = this.keys.at(-1) as SigningKey;
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: this.issuer, sub: 'ann', aud: 'shop', iat: now, exp: now + 300, ...claims };
    return new SignJWT(JSON.parse(JSON.stringify(payload)))
      .setProtectedHeader({ alg, kid, typ: 'JWT', ...header })
      .sign(privateKey);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async documentAt(path: string): Promise<object | undefined> {
    const base = this.issuer.replace(/\/$/, '');
    if (path === '/.well-known/openid-configuration') return { issuer: this.issuer, jwks_uri: `${base}/keys` };
    if (path !== '/keys') return undefined;
    const describe = async ({ alg, kid, publicKey }: SigningKey) => ({
      ...(await exportJWK(publicKey)),
      alg,
      kid,
      use: 'sig',
    });
    return { keys: await Promise.all(this.keys.map(describe)) };
  }
}
