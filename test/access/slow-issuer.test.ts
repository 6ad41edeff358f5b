import { type Gateway, startGateway } from '../helper/gateway';
import { socketClient } from '../helper/live';
import { until } from '../helper/until';
import { ANONYMOUS, ask } from '../http/client';
import { IdentityProvider } from './identity-provider';

/** The number of requests in progress that one caller may have. */
const MOST = 16;

let provider: IdentityProvider;
let gateway: Gateway;
let answer: () => void;

/** Starts a gateway whose issuer does not answer until `answer` is called. */
async function start(settings: Record<string, string> = {}): Promise<void> {
  provider = await IdentityProvider.start();
  provider.hold = new Promise((resolve) => {
    answer = resolve;
  });
  gateway = await startGateway({
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: 'shop',
    MAX_REQUESTS_IN_PROGRESS: String(4 * MOST),
    ...settings,
  });
}
afterEach(async () => {
  answer();
  gateway.server.server.closeAllConnections();
  await gateway.close();
  await provider.stop();
});

const withToken = async (sub: string) => ({
  'x-api-key': undefined,
  authorization: `Bearer ${await provider.sign({ sub })}`,
});
const statusOf = async (headers: Record<string, string | undefined>, from: string) =>
  (await ask(gateway, 'GET /pets', { headers, from })).status;

test('while the issuer does not answer, tokens wait, and all other callers are served', async () => {
  await start();
  const tokens = await Promise.all(Array.from({ length: 3 }, (_, i) => withToken(`user ${i}`)));
  const statuses: number[] = [];
  for (const [i, headers] of tokens.entries())
    void statusOf(headers, `198.51.100.${i}`).then((status) => statuses.push(status));
  const { headers: key } = await gateway.createKey();
  expect(await statusOf(key, '198.51.100.0')).toBe(200);
  expect(await statusOf(ANONYMOUS, '198.51.100.0')).toBe(200);
  expect(statuses).toEqual([]);
  answer();
  await until(() => statuses.length === 3);
  expect(statuses).toEqual([200, 200, 200]);
  expect(provider.paths).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('tokens that wait for the issuer count for their address, which has the bounds of one caller', async () => {
  await start();
  const tokens = await Promise.all(Array.from({ length: MOST + 4 }, (_, i) => withToken(`user ${i}`)));
  const statuses: number[] = [];
  for (const headers of tokens) void statusOf(headers, '198.51.100.7').then((status) => statuses.push(status));
  await until(() => statuses.length === 4);
  expect(statuses).toEqual([429, 429, 429, 429]);
  answer();
  await until(() => statuses.length === MOST + 4);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MOST);
});

test('a token that cannot be verified in time gets 503 with Retry-After, and closes a WebSocket with 1013', async () => {
  await start({ REQUEST_TIMEOUT_MS: '500' });
  const url = await gateway.listen();
  const headers = await withToken('ann');
  const client = socketClient(url, { authorization: headers.authorization });
  const operation = client.subscribe('{ viewer { user } }');
  const { status, code, told } = await ask(gateway, 'GET /pets', { headers });
  expect([status, code, told.retryAfter]).toEqual([503, 'SERVICE_UNAVAILABLE', expect.any(Number)]);
  expect((await operation.untilOver()).error).toMatchObject({ code: 1013 });
  client.close();
});
