import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test("GET /rate_limit reports the caller's quota, and does not use any of the quota", async () => {
  for (const _ of ['first', 'again']) {
    const response = await gateway.server.inject({ url: '/rate_limit' });
    expect([response.statusCode, response.headers['x-ratelimit-remaining']]).toEqual([200, '60']);
    expect(response.json()).toEqual({
      plan: 'FREE',
      windows: [
        { name: 'minute', limit: 60, remaining: 60, resetAt: expect.stringMatching(/Z$/) },
        { name: 'day', limit: 1000, remaining: 1000, resetAt: expect.stringMatching(/Z$/) },
      ],
    });
  }
});
