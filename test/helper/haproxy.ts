import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port';
import { accepts } from './pgbouncer';
import type { PostgresServer } from './postgres-server';
import { until } from './until';

const BINARY = '/usr/sbin/haproxy';
export const CAN_START_HAPROXY = existsSync(BINARY);

/** A HAProxy of the test's own. */
export class HaProxy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    readonly url: string,
    private readonly agents: readonly Server[] = [],
  ) {}

  /** Leads to the primary of PostgreSQL servers: an agent beside each server answers for it, as Patroni's REST API does. */
  static async start(servers: readonly PostgresServer[]): Promise<HaProxy> {
    const agents = await Promise.all(servers.map(({ url }) => agentOf(url)));
    const ports = agents.map((agent) => (agent.address() as AddressInfo).port);
    const lines = servers.map(({ port }, i) => `server s${i} 127.0.0.1:${port} check port ${ports[i]}`);
    const { process, directory, host } = await run([...TO_PRIMARY, ...lines]);
    return new HaProxy(process, directory, `postgresql://postgres@${host}/postgres`, agents);
  }

  /** Balances HTTP requests over the gateways that are ready. `/all-ready` is 200 while all of them are. */
  static async toGateways(ports: readonly number[]): Promise<HaProxy> {
    const lines = ports.map((port, i) => `server s${i} 127.0.0.1:${port} check`);
    const monitor = ['monitor-uri /all-ready', `monitor fail if { nbsrv lt ${ports.length} }`];
    const { process, directory, host } = await run([...TO_GATEWAYS, ...monitor, ...lines]);
    return new HaProxy(process, directory, `http://${host}`);
  }

  async remove(): Promise<void> {
    const gone = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await gone;
    for (const agent of this.agents) agent.close();
    rmSync(this.directory, { recursive: true });
  }
}

const TO_PRIMARY = [
  'mode tcp',
  'option httpchk GET /primary',
  'default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
];

const TO_GATEWAYS = [
  'mode http',
  'balance roundrobin',
  'option httpchk GET /readyz',
  'default-server inter 100ms fall 1 rise 1',
  'timeout check 2s',
  // Tries another gateway if no connection could be made.
  'option redispatch 1',
];

/** @param section the lines of `listen`, without its address. */
async function run(section: readonly string[]): Promise<{ process: ChildProcess; directory: string; host: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'haproxy-'));
  const port = await freePort();
  const lines = [
    'global',
    'maxconn 500',
    'defaults',
    'timeout connect 2s',
    'timeout client 1h',
    'timeout server 1h',
    'listen servers',
    `bind 127.0.0.1:${port}`,
    'http-check expect status 200',
    ...section,
  ];
  writeFileSync(join(directory, 'cfg'), `${lines.join('\n')}\n`);
  const process = spawn(BINARY, ['-db', '-f', join(directory, 'cfg')], { stdio: 'ignore' });
  await until(() => accepts(port));
  return { process, directory, host: `127.0.0.1:${port}` };
}

async function agentOf(connectionString: string): Promise<Server> {
  const agent = createServer(async (_request, response) => {
    const client = new Client({ connectionString, connectionTimeoutMillis: 400 }).on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query('select pg_is_in_recovery() as is');
      response.statusCode = rows[0].is ? 503 : 200;
    } catch {
      response.statusCode = 503;
    }
    response.end();
    void client.end();
  });
  agent.listen(0, '127.0.0.1');
  await once(agent, 'listening');
  return agent;
}
