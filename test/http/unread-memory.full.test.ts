import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../helper/command';
import { ADMIN_KEY } from '../helper/gateway';
import { ask } from '../helper/load';
import { responsesIn } from '../helper/messages';
import { GatewayProcess } from '../helper/process';
import { createProduction, onServers, type Production } from '../helper/production';
import { until } from '../helper/until';

const [NODE, MAIN = ''] = command('main');
const CALLERS = 10;
const CONNECTIONS = 20;
const MIB = 1024 * 1024;
const NAME = '\u{1f415}'.repeat(255);
/** A query whose response has 4.8 MB. */
const LARGE = `{ pets(first: 100) { nodes { ${Array.from({ length: 47 }, (_, i) => `n${i}: name`).join(' ')} } } }`;
const HEADERS = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };

onServers('clients that do not read their responses', () => {
  let production: Production;
  let gateway: GatewayProcess;
  /** The gateway of the last test, which waits for a minute. It starts first, so that the minute passes during the others. */
  let patient: GatewayProcess;
  let silent: Socket;
  /** When the connection of the silent client was opened, and how long the server left it open, in milliseconds. */
  let since: number;
  let lasted: Promise<number>;
  let slowest: SlowReader;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    production = await createProduction();
    gateway = await GatewayProcess.start(production.environment, [NODE, '--max-old-space-size=256', MAIN]);
    patient = await GatewayProcess.start(production.environment);
    await run('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    const creations = Array.from({ length: 100 }, (_, i) => `p${i}: createPet(input: $pet) { id }`);
    await run(`mutation ($pet: NewPet!) { ${creations.join(' ')} }`, { pet: { name: NAME, categoryId: 1 } });
    silent = send(await createKey(), patient);
    since = Date.now();
    slowest = await startReading(await createKey(), 20_000, patient);
    sockets.length = 0;
    lasted = untilOneIsClosed();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(async () => (await unsent()) < MIB / 16, 60);
  });
  afterAll(async () => {
    for (const socket of [silent, slowest?.socket]) socket?.destroy();
    await gateway.stop();
    await patient.stop();
    await production.drop();
  });

  async function run(query: string, variables?: object): Promise<Record<string, Record<string, string>>> {
    const body = JSON.stringify({ query, variables });
    const { body: answer = '' } = await ask(gateway.url, { path: '/graphql', method: 'POST', headers: HEADERS, body });
    return JSON.parse(answer).data;
  }

  async function createKey(): Promise<string> {
    const input = '{ name: "reader", plan: ENTERPRISE, perMinute: 1000000, perDay: 1000000 }';
    const { createApiKey } = await run(`mutation { createApiKey(input: ${input}) { secret } }`);
    return createApiKey?.secret ?? '';
  }

  function request(key: string): string {
    const body = JSON.stringify({ query: LARGE });
    const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: application/json`;
    return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }

  /** Sends a request, and reads nothing. */
  function send(key: string, to = gateway): Socket {
    const socket = connect(Number(new URL(to.url).port), '127.0.0.1').on('error', () => undefined);
    socket.pause();
    socket.write(request(key));
    sockets.push(socket);
    return socket;
  }

  /** Reads this many bytes per second; everything at once after `resume()`. */
  class SlowReader {
    received = '';
    private readonly reading: NodeJS.Timeout;

    constructor(
      readonly socket: Socket,
      bytesPerSecond: number,
    ) {
      let allowed = 0;
      this.reading = setInterval(() => {
        allowed += bytesPerSecond / 10;
        if (allowed > 0) socket.resume();
      }, 100);
      socket.once('close', () => clearInterval(this.reading));
      socket.setEncoding('latin1').on('data', (data) => {
        this.received += data;
        allowed -= data.length;
        if (allowed <= 0) socket.pause();
      });
    }

    resume(): void {
      clearInterval(this.reading);
      this.socket.removeAllListeners('data').on('data', (data) => {
        this.received += data;
      });
      this.socket.resume();
    }

    async isWhole(): Promise<boolean> {
      const [response] = responsesIn(this.received);
      return response !== undefined && JSON.parse(response.body).data.pets.nodes[99].n46 === NAME;
    }
  }

  /** Sends requests until one is accepted. */
  async function startReading(key: string, bytesPerSecond: number, from = gateway): Promise<SlowReader> {
    for (;;) {
      const reader = new SlowReader(send(key, from), bytesPerSecond);
      await until(async () => reader.received.includes('\r\n\r\n'), 60);
      if (reader.received.startsWith('HTTP/1.1 200 ')) return reader;
    }
  }

  async function untilOneIsClosed(): Promise<number> {
    while (Date.now() < since + 120_000) {
      if (/^petstore_unread_connections_closed_total 1$/m.test(await patient.metrics())) return Date.now() - since;
      await sleep(500);
    }
    return Number.NaN;
  }

  const residentBytes = () =>
    1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]);
  const unsent = async () => Number(/^petstore_unsent_bytes (\d+)$/m.exec(await gateway.metrics())?.[1]);

  test('200 connections that ask over and over keep the process below 512 MB, and other callers are served', async () => {
    const keys = await Promise.all(Array.from({ length: CALLERS }, createKey));
    const [other, slow] = await Promise.all([createKey(), createKey()]);
    for (let i = 0; i < CONNECTIONS; i++) for (const key of keys) send(key);
    const asking = setInterval(() => {
      for (const [i, socket] of sockets.entries())
        if (socket.writableLength === 0) socket.write(request(keys[i % CALLERS] ?? ''));
    }, 1000);
    await until(async () => (await unsent()) > 32 * MIB, 90);
    const reader = await startReading(slow, 500_000);
    let most = 0;
    const served: (number | undefined)[] = [];
    for (let i = 0; i < 100; i++) {
      served.push((await ask(gateway.url, { path: '/pets?id=1', headers: { 'x-api-key': other } })).status);
      most = Math.max(most, residentBytes());
      await sleep(100);
    }
    clearInterval(asking);
    expect(most).toBeLessThan(512e6);
    expect(served.filter((status) => status === 200).length).toBeGreaterThan(80);
    await until(() => reader.isWhole(), 60);
  }, 240_000);

  test('a reader and another caller are served although 1,000 connections of ten callers start at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: CALLERS }, createKey));
    const [other, slow] = await Promise.all([createKey(), createKey()]);
    const read = async () => (await ask(gateway.url, { path: '/pets?id=1', headers: { 'x-api-key': other } })).status;
    for (let i = 0; i < 100; i++) for (const key of keys) send(key);
    const reader = new SlowReader(send(slow), 500_000);
    const served: (number | undefined)[] = [];
    await until(async () => {
      served.push(await read());
      return reader.received.includes('\r\n\r\n');
    }, 60);
    expect(reader.received).toMatch(/^HTTP\/1.1 200 /);
    expect(served.filter((status) => status === 200).length / served.length).toBeGreaterThan(0.8);
    await until(() => reader.isWhole(), 60);
  });

  // The kernel takes about 4 MB of the response at once. The process then sees the next progress of a reader of 20 kB/s after
  // more than 60 s.
  test('a client that reads nothing is disconnected after a minute, a reader of 20 kB/s is not', async () => {
    expect(await lasted).toBeGreaterThan(55_000);
    await sleep(Math.max(0, since + 70_000 - Date.now()));
    expect(slowest.socket.destroyed).toBe(false);
    slowest.resume();
    await until(() => slowest.isWhole());
  });
});
