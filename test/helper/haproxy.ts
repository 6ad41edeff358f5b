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

/** A HAProxy in front of servers, of which it uses the one whose agent says that it is the primary, as Patroni's does. */
export class HaProxy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    private readonly agents: readonly Server[],
    readonly url: string,
  ) {}

  static async start(servers: readonly PostgresServer[]): Promise<HaProxy> {
    const agents = await Promise.all(servers.map(({ url }) => agentOf(url)));
    const ports = agents.map((agent) => (agent.address() as AddressInfo).port);
    const directory = mkdtempSync(join(tmpdir(), 'haproxy-'));
    const port = await freePort();
    const lines = servers.map(({ port }, i) => `  server s${i} 127.0.0.1:${port} check port ${ports[i]}`);
    writeFileSync(join(directory, 'cfg'), `${CONFIGURATION}  bind 127.0.0.1:${port}\n${lines.join('\n')}\n`);
    const process = spawn(BINARY, ['-db', '-f', join(directory, 'cfg')], { stdio: 'ignore' });
    await until(() => accepts(port));
    return new HaProxy(process, directory, agents, `postgresql://postgres@127.0.0.1:${port}/postgres`);
  }

  async remove(): Promise<void> {
    const gone = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await gone;
    for (const agent of this.agents) agent.close();
    rmSync(this.directory, { recursive: true });
  }
}

const CONFIGURATION = `global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen primary
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
`;

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
