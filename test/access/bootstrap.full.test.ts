import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { GatewayProcess, inShell } from '../helper/process';
import { TEST_REDIS_URL } from '../helper/production';

const onServer = TEST_DATABASE_URL ? test : test.skip;

// test/app/start.process.test.ts has the same test for the embedded database.
onServer.each([1, 2])(
  'WEB_CONCURRENCY=%i: a start on a port in use creates no admin key, and the next start creates one admin key',
  async (workers) => {
    const { database, url, drop } = await createDatabase();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const environment = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: String(url),
      REDIS_URL: TEST_REDIS_URL ?? '',
      LOG_LEVEL: 'silent',
      WEB_CONCURRENCY: String(workers),
    };
    const failed = await new GatewayProcess({ ...environment, PORT: String(port) }).ended;
    taken.close();
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`port ${port} is taken`) });
    expect(await database.prisma.apiKey.count()).toBe(0);
    const next = await GatewayProcess.start(environment);
    expect(next.report['Admin key']).toMatch(/^ps_/);
    expect(next.report['Pages with key']).toBe(`${next.url}/#key=${next.report['Admin key']}`);
    expect(await inShell(next.report['First write'])).toEqual({ id: 1, name: 'Dogs' });
    await next.stop();
    expect(await database.prisma.apiKey.count()).toBe(1);
    await drop();
  },
);
