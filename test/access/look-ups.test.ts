import { Agent } from 'node:http';
import { statement } from '../../src/database/statement';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { ask } from '../helper/load';
import { until } from '../helper/until';

let clock = 1_800_000_000_000;
let gateway: Gateway;
let url: string;
let connections = 0;
beforeAll(async () => {
  gateway = await startGateway({}, () => clock);
  gateway.server.server.on('connection', () => {
    connections += 1;
  });
  url = await gateway.listen();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

async function read(whole: string): Promise<number> {
  return (await gateway.server.inject({ url: '/pets', headers: { 'x-api-key': whole } })).statusCode;
}

function revoke({ id }: TestKey): Promise<unknown> {
  return gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
}

/** The key with another character at this position of its secret. */
function wrong({ whole }: TestKey, at: number): string {
  const start = whole.lastIndexOf('_') + 1 + at;
  return whole.slice(0, start) + (whole[start] === 'a' ? 'b' : 'a') + whole.slice(start + 1);
}

/** Look-ups of a key in the database, each of which is answered with what it has found only when told to. */
function slowLookUps({ id }: TestKey): (() => void)[] {
  const { apiKey } = gateway.database.prisma;
  const findUnique = apiKey.findUnique.bind(apiKey);
  const answers: (() => void)[] = [];
  const slow = async (query: Parameters<typeof findUnique>[0]) => {
    const found = await findUnique(query);
    // The administration of keys never reads the secret's hash.
    const isLookUp = query.where.id === id && !query.omit?.secretHash;
    if (isLookUp) await new Promise<void>((resolve) => answers.push(resolve));
    return found;
  };
  jest.spyOn(apiKey, 'findUnique').mockImplementation(slow as never);
  return answers;
}

test('concurrent requests with one key share a look-up, and each secret is compared', async () => {
  const key = await gateway.createKey();
  const lookUps = jest.spyOn(gateway.database.prisma.apiKey, 'findUnique');
  expect(await Promise.all([key.whole, key.whole, wrong(key, 31)].map(read))).toEqual([200, 200, 401]);
  expect(lookUps.mock.calls.map(([{ where }]) => where.id)).toEqual([key.id]);
});

test('a look-up that a revocation has overtaken does not count for later requests', async () => {
  const key = await gateway.createKey();
  const answers = slowLookUps(key);
  const before = read(key.whole);
  await until(async () => answers.length === 1);
  await revoke(key);
  const after = read(key.whole);
  await until(async () => answers.length === 2);
  answers[1]?.();
  expect(await after).toBe(401);
  answers[0]?.();
  expect(await before).toBe(200);
  expect(await read(key.whole)).toBe(401);
});

describe('on a connection that has sent a valid key,', () => {
  let agent: Agent;
  let key: TestKey;
  beforeEach(async () => {
    connections = 0;
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    key = await gateway.createKey({ expiresAt: new Date(clock + 60_000).toISOString() });
  });
  afterEach(() => {
    agent.destroy();
    expect(connections).toBe(1);
  });

  async function send(whole: string): Promise<number | undefined> {
    return (await ask(url, { path: '/pets', headers: { 'x-api-key': whole } }, agent)).status;
  }

  test('the key with another secret is refused, and the valid one still accepted', async () => {
    expect(await send(key.whole)).toBe(200);
    for (const at of [0, 15, 31]) {
      expect(await send(wrong(key, at))).toBe(401);
      expect(await send(key.whole)).toBe(200);
    }
    expect(await send(`${key.whole}a`)).toBe(401);
    expect(await send(key.whole.slice(0, -1))).toBe(401);
    expect(await send(key.whole)).toBe(200);
  });

  test('it is refused once it is revoked', async () => {
    expect(await send(key.whole)).toBe(200);
    await revoke(key);
    expect(await send(key.whole)).toBe(401);
  });

  test('it is refused after it was revoked during its look-up', async () => {
    const answers = slowLookUps(key);
    const before = send(key.whole);
    await until(async () => answers.length === 1);
    await revoke(key);
    answers[0]?.();
    expect(await before).toBe(200);
    jest.restoreAllMocks();
    expect(await send(key.whole)).toBe(401);
  });

  test('it is refused five seconds after it was revoked elsewhere', async () => {
    expect(await send(key.whole)).toBe(200);
    await gateway.database.query(statement('update api_keys set revoked_at = now() where id = $1'), [key.id]);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
    expect(await send(key.whole)).toBe(401);
  });

  test('it is accepted until the millisecond at which it expires', async () => {
    expect(await send(key.whole)).toBe(200);
    clock += 59_999;
    expect(await send(key.whole)).toBe(200);
    clock += 1;
    expect(await send(key.whole)).toBe(401);
  });
});
