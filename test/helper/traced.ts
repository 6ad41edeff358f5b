import { Agent } from 'node:http';
import { createDatabase, TEST_DATABASE_URL } from './database';
import { ADMIN_KEY } from './gateway';
import { Installation } from './installation';
import { type Asked, ask } from './load';
import { TEST_REDIS_URL } from './production';

/** The gateway waits a second for idle connections when it stops. */
const agent = new Agent({ keepAlive: false });

const KEY = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };

/** What a gateway process did: the status of each response, how long it took to stop, its log by line, its errors. */
export interface Served {
  readonly statuses: (number | undefined)[];
  readonly took: number;
  readonly log: Record<string, unknown>[];
  readonly stderr: string;
}

/** A gateway on a database of its own: on the servers of the full suite, otherwise embedded. */
export class TracedGateway {
  private constructor(
    /** Of its server, if it is on one. */
    readonly databaseUrl: string | undefined,
    private readonly installation: Installation,
    private readonly drop: (() => Promise<void>) | undefined,
  ) {}

  static async create(): Promise<TracedGateway> {
    const { url, drop } = TEST_DATABASE_URL ? await createDatabase() : {};
    const environment = {
      DATABASE_URL: url ?? '',
      REDIS_URL: TEST_REDIS_URL ?? '',
      ADMIN_API_KEY: ADMIN_KEY,
    };
    return new TracedGateway(url, new Installation(environment), drop);
  }

  /** Starts it with extra environment variables, sends it requests with the admin key, and stops it. */
  async serve(more: Record<string, string>, ...requests: Asked[]): Promise<Served> {
    const gateway = await this.installation.start(more);
    const statuses = [];
    for (const { headers, ...rest } of requests)
      statuses.push((await ask(gateway.url, { headers: { ...KEY, ...headers }, ...rest }, agent)).status);
    const stopped = performance.now();
    const { code, stdout, stderr } = await gateway.stop('SIGTERM');
    const took = performance.now() - stopped;
    expect([code, stderr.replace(/^LOADED.*\n/m, '')]).toEqual([0, '']);
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
    return { statuses, took, log: lines.map((line) => JSON.parse(line)), stderr };
  }

  async remove(): Promise<void> {
    await this.installation.remove();
    await this.drop?.();
  }
}
