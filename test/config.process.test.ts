import { GatewayProcess } from './helper/process';

describe('the process', () => {
  test.each([
    ['PORT', 'http'],
    ['WEB_CONCURRENCY', '0'],
    ['DATABASE_URL', 'mysql://db'],
    ['REDIS_URL', 'cache'],
    ['ANONYMOUS_ACCESS', 'admin'],
    ['ADMIN_API_KEY', 'secret'],
    ['TRUST_PROXY', 'true'],
    ['BAN_AFTER', '0'],
    ['BAN_SECONDS', '0'],
    ['BAN_MAX_SECONDS', '0'],
    ['CORS_ORIGINS', 'shop.example'],
    ['LOG_LEVEL', 'loud'],
    ['NODE_ENV', 'prod'],
    ['DATA_DIR', '/dev/null/data'],
  ])('does not start with %s=%s, and says so in one line', async (name, value) => {
    const environment = { DATA_DIR: '/dev/null/data', [name]: value };
    const { code, stdout, stderr } = await new GatewayProcess(environment).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^petstore-gateway: [^\n]+\n$/);
    expect(stderr).toContain(name);
  });

  test.each([
    ['an unreachable PostgreSQL', { DATABASE_URL: 'postgresql://localhost:1/petstore' }],
    ['an unreachable PostgreSQL, by address', { DATABASE_URL: 'postgresql://127.0.0.1:1/petstore' }],
  ])('does not start with %s, and says so in one line', async (_what, environment) => {
    const { code, stdout, stderr } = await new GatewayProcess(environment).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^petstore-gateway: [^\n]*ECONNREFUSED[^\n]*\n$/);
  });
});
