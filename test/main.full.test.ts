import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Installation, makeDirectory } from './helper/installation';
import { GatewayProcess } from './helper/process';

const CREATE = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
const IDS = '{ categories { nodes { id } } }';
const ids = (...values: string[]) => ({ data: { categories: { nodes: values.map((id) => ({ id })) } } });

describe('where there is no data directory', () => {
  let directory: string;
  let running: GatewayProcess | undefined;
  beforeEach(() => {
    directory = makeDirectory();
  });
  afterEach(async () => {
    await running?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  test('the first start creates one, and an admin key', async () => {
    running = await GatewayProcess.start({ DATA_DIR: join(directory, 'data') });
    expect(running.stdout).toContain('Admin key');
    expect(await running.graphql(CREATE)).toMatchObject({ data: { createCategory: { id: '1' } } });
  });

  test('a start without its manifest of trusted documents ends in one line, before it has created an admin key', async () => {
    const DATA_DIR = join(directory, 'data');
    const TRUSTED_DOCUMENTS = join(directory, 'nowhere.json');
    const { code, stdout, stderr } = await new GatewayProcess({ DATA_DIR, TRUSTED_DOCUMENTS }).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^petstore-gateway: TRUSTED_DOCUMENTS [^\n]*nowhere\.json: ENOENT[^\n]+\n$/);
    running = await GatewayProcess.start({ DATA_DIR });
    expect(running.stdout).toContain('Admin key');
  });
});

describe('on a data directory', () => {
  let installation: Installation;
  beforeEach(() => {
    installation = new Installation({ LOG_LEVEL: 'silent' });
  });
  afterEach(() => installation.remove());

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends it with 0; the data is there after the next start, which prints no key',
    async (signal) => {
      const gateway = await installation.start();
      await gateway.graphql(CREATE);
      expect(await gateway.stop(signal)).toMatchObject({ code: 0, signal: null, stderr: '' });
      const next = await installation.start();
      expect(next.stdout).not.toContain('Admin key');
      expect(await next.graphql(IDS)).toMatchObject(ids('1'));
    },
  );

  test('acknowledged writes survive one SIGKILL after another', async () => {
    const created: string[] = [];
    while (created.length < 3) {
      const gateway = await installation.start();
      const { data } = await gateway.graphql<{ data: { createCategory: { id: string } } }>(CREATE);
      created.push(data.createCategory.id);
      expect(await gateway.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });
    }
    const gateway = await installation.start();
    expect(await gateway.graphql(IDS)).toMatchObject(ids(...created));
  });

  test('an unknown host is reported in one line', async () => {
    const { code, stderr } = await new GatewayProcess({ DATA_DIR: installation.data, HOST: 'not..a.host' }).ended;
    expect([code, stderr]).toEqual([
      1,
      'petstore-gateway: cannot listen on HOST and PORT: getaddrinfo ENOTFOUND not..a.host\n',
    ]);
  });
});
