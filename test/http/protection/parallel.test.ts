import { type Gateway, startGateway } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { REDIS_URLS } from '../../rate-limit/stores';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Instances that count together, on one database. */
const SETUPS: { name: string; open: () => Promise<Gateway[]> }[] = [
  { name: 'one instance', open: async () => [gateway] },
  ...REDIS_URLS.map((REDIS_URL) => ({
    name: 'two instances that share Redis',
    open: () => Promise.all([gateway.another({ REDIS_URL }), gateway.another({ REDIS_URL })]),
  })),
];

const DOORS = [
  { name: 'GraphQL', isGraphQL: () => true },
  { name: 'REST', isGraphQL: () => false },
  { name: 'GraphQL and REST', isGraphQL: (i: number) => i % 3 === 0 },
];

describe.each(SETUPS)('of 200 requests that a new FREE caller sends at once to $name', ({ open }) => {
  let instances: Gateway[];
  beforeAll(async () => {
    instances = await open();
  });
  afterAll(() => Promise.all(instances.filter((each) => each !== gateway).map((each) => each.close())));

  const send = async (i: number, headers: Record<string, string>, isGraphQL: boolean) => {
    const instance = instances[i % instances.length] as Gateway;
    const response = await instance.server.inject(
      isGraphQL
        ? {
            method: 'POST',
            url: '/graphql',
            headers: { ...headers, 'content-type': 'application/json' },
            payload: { query: '{ pets { totalCount } }' },
          }
        : { url: '/pets', headers },
    );
    const body = response.json();
    return {
      status: response.statusCode,
      code: body.code ?? body.errors?.[0].extensions.code,
      remaining: toldBy(response.headers).remaining,
    };
  };

  test.each(DOORS)('exactly 60 pass over $name, each with a different remaining quota', async ({ isGraphQL }) => {
    const { headers } = await gateway.createKey();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => send(i, headers, isGraphQL(i))));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([passed.length, refused.length]).toEqual([60, 140]);
    expect(passed.map(({ remaining }) => remaining).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, i) => i),
    );
    const limited = refused.filter(({ code }) => code === 'RATE_LIMITED');
    const banned = refused.filter(({ code }) => code === 'KEY_BANNED');
    expect([limited.length, banned.length]).toEqual([20, 120]);
  });

  test('a ban on one instance applies to all, and is lifted on all', async () => {
    const key = await gateway.createKey();
    const [first, last] = [instances[0], instances.at(-1)] as [Gateway, Gateway];
    await Promise.all(Array.from({ length: 80 }, () => send(0, key.headers, true)));
    expect(await last.graphql('{ pets { totalCount } }', undefined, key.headers)).toMatchObject({
      status: 429,
      errors: [{ extensions: { code: 'KEY_BANNED' } }],
    });
    expect(await last.data(`mutation { liftBan(caller: "${key.id}") }`)).toEqual({ liftBan: true });
    expect(await first.graphql('{ viewer { plan } }', undefined, key.headers)).toMatchObject({ status: 200 });
  });
});
