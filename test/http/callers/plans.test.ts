import { type Gateway, startGateway } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const CALLERS: readonly (readonly [name: string, key: object | undefined, perMinute: number, perDay: number])[] = [
  ['without a key', undefined, 60, 1000],
  ['on the plan FREE', { plan: 'FREE' }, 60, 1000],
  ['on the plan PRO', { plan: 'PRO' }, 300, 10_000],
  ['on the plan BUSINESS', { plan: 'BUSINESS' }, 1000, 100_000],
  ['on the plan ENTERPRISE', { plan: 'ENTERPRISE', perMinute: 7, perDay: 8 }, 7, 8],
];

test.each(CALLERS)('a caller %s is told its quota by both interfaces', async (_who, key, perMinute, perDay) => {
  const headers = key ? (await gateway.createKey(key)).headers : { 'x-api-key': undefined };
  const query = '{ rateLimit { windows { name limit remaining } } }';
  const { data, headers: answered } = await gateway.graphql(query, undefined, headers);
  expect(data).toEqual({
    rateLimit: {
      windows: [
        { name: 'minute', limit: perMinute, remaining: perMinute },
        { name: 'day', limit: perDay, remaining: perDay },
      ],
    },
  });
  const windows = {
    minute: { q: perMinute, w: 60, r: perMinute },
    day: { q: perDay, w: 86_400, r: perDay },
  };
  expect(toldBy(answered)).toMatchObject({ limit: perMinute, windows });
  const rest = await gateway.app.inject({ url: '/rate_limit', headers: headers as Record<string, string> });
  expect(toldBy(rest.headers)).toMatchObject({ limit: perMinute, windows });
});
