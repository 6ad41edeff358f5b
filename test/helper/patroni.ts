import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { query } from './failover';
import { freePort } from './free-port';
import { ask } from './load';
import { accepts } from './pgbouncer';
import { BINARIES, CAN_START_POSTGRES, SERVER_USER } from './postgres-server';
import { endOf } from './run';
import { until } from './until';

const PROGRAMS = ['patroni', 'patronictl', 'etcd'].map((name) => join('/usr/bin', name));

/** Why no Patroni can be started here; `undefined` if it can. */
export const NO_PATRONI =
  CAN_START_POSTGRES && PROGRAMS.every(existsSync)
    ? undefined
    : 'PostgreSQL is kept available by Patroni: apt-get install postgresql patroni etcd-server.';

/** A PostgreSQL with its Patroni. */
interface Node {
  readonly name: string;
  readonly port: number;
  /** Of Patroni's REST API, which a proxy asks for `/primary`. */
  readonly agentPort: number;
  patroni: ChildProcess;
}

/** Three PostgreSQL servers of which Patroni makes one the primary, and acknowledges a write once a standby has it, too. */
export class PatroniCluster {
  readonly nodes: Node[] = [];
  private readonly directory = mkdtempSync(join(tmpdir(), 'patroni-'));
  private etcd: ChildProcess | undefined;

  static async start(): Promise<PatroniCluster> {
    const cluster = new PatroniCluster();
    chownSync(
      cluster.directory,
      SERVER_USER?.uid ?? process.getuid?.() ?? 0,
      SERVER_USER?.gid ?? process.getgid?.() ?? 0,
    );
    const port = await cluster.startEtcd();
    for (const name of ['one', 'two', 'three']) await cluster.add(name, port);
    await until(async () => (await cluster.members()).filter(({ role }) => role === 'sync_standby').length === 1, 90);
    await until(
      async () => (await cluster.members()).filter(({ state }) => /running|streaming/.test(state)).length === 3,
      90,
    );
    return cluster;
  }

  /** A URL of all hosts. */
  get url(): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${port}`);
    return `postgresql://postgres@${hosts}/postgres?target_session_attrs=read-write`;
  }

  /** The URL of the primary alone, once it takes writes. */
  async primaryUrl(): Promise<string> {
    let url = '';
    const takesWrites = async () => {
      url = `postgresql://postgres@127.0.0.1:${(await this.primary()).port}/postgres`;
      const [row] = await query(url, 'select pg_is_in_recovery() as is');
      return row.is === false;
    };
    await until(() => takesWrites().catch(() => false), 60);
    return url;
  }

  async primary(): Promise<Node> {
    for (;;) {
      const asked = await Promise.all(this.nodes.map((node) => this.isPrimary(node)));
      const found = this.nodes[asked.indexOf(true)];
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Makes another server the primary, as one does for maintenance. */
  async switchOver(): Promise<void> {
    const args = ['-c', this.fileOf('one'), 'switchover', '--force'];
    await endOf(spawn('patronictl', args, { ...this.options, stdio: ['ignore', 'pipe', 'pipe'] }), 'patronictl');
  }

  /** Kills a PostgreSQL by `kill -9`. */
  crash({ name }: Node): void {
    const [pid] = readFileSync(join(this.directory, name, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  /** Kills a PostgreSQL with its Patroni by `kill -9`, as where a machine is lost. */
  lose(node: Node): void {
    node.patroni.kill('SIGKILL');
    this.crash(node);
  }

  async remove(): Promise<void> {
    for (const node of this.nodes)
      if (node.patroni.exitCode === null && !node.patroni.signalCode) {
        const gone = once(node.patroni, 'exit');
        node.patroni.kill('SIGKILL');
        await gone;
        try {
          this.crash(node);
        } catch {
          // It has ended.
        }
      }
    this.etcd?.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  private async startEtcd(): Promise<number> {
    const [port, peers] = [await freePort(), await freePort()];
    const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peers}`];
    const listen = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer];
    const self = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`];
    this.etcd = spawn(
      'etcd',
      ['--data-dir', join(this.directory, 'etcd'), '--unsafe-no-fsync', ...listen, ...self],
      this.options,
    );
    await until(() => accepts(port));
    return port;
  }

  private async add(name: string, etcd: number): Promise<void> {
    const [port, agentPort] = [await freePort(), await freePort()];
    const trust = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
    const user = (username: string) => ({ username, password: 'secret' });
    const configuration = {
      scope: 'petstore',
      name,
      etcd3: { hosts: [`127.0.0.1:${etcd}`] },
      restapi: { listen: `127.0.0.1:${agentPort}`, connect_address: `127.0.0.1:${agentPort}` },
      bootstrap: {
        dcs: { ttl: 20, loop_wait: 2, retry_timeout: 5, synchronous_mode: true },
        initdb: [{ encoding: 'UTF8' }, 'no-sync'],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        bin_dir: BINARIES,
        data_dir: join(this.directory, name),
        pgpass: join(this.directory, `${name}.pass`),
        authentication: { superuser: user('postgres'), replication: user('replicator') },
        pg_hba: trust,
        use_pg_rewind: true,
        parameters: { unix_socket_directories: this.directory, fsync: 'off' },
      },
    };
    writeFileSync(this.fileOf(name), stringify(configuration), { mode: 0o644 });
    const node = { name, port, agentPort, patroni: spawn('patroni', [this.fileOf(name)], this.options) };
    this.nodes.push(node);
    if (this.nodes.length === 1) await this.primary();
  }

  private async isPrimary({ agentPort }: Node): Promise<boolean> {
    return (await ask(`http://127.0.0.1:${agentPort}`, { path: '/primary' })).status === 200;
  }

  private async members(): Promise<{ role: string; state: string }[]> {
    const { body = '{}' } = await ask(`http://127.0.0.1:${(await this.primary()).agentPort}`, { path: '/cluster' });
    return JSON.parse(body).members ?? [];
  }

  private fileOf(name: string): string {
    return join(this.directory, `${name}.yaml`);
  }

  private get options(): SpawnOptions {
    return {
      ...SERVER_USER,
      cwd: this.directory,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: this.directory, LC_ALL: 'C.UTF-8' },
    };
  }
}
