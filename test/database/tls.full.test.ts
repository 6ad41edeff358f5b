import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { readConfig } from '../../src/app/config';
import { Deadline, Ended } from '../../src/database/deadline';
import { openDatabase } from '../../src/database/open';
import { parseConnectionString } from '../../src/database/postgres/connection-string';
import { statement } from '../../src/database/statement';
import { CAN_START_POSTGRES, giveToServer, PostgresServer } from '../helper/postgres-server';
import { until } from '../helper/until';

const PASSWORD = 'hunter2';

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

onOwnServer('a server that requires TLS over TCP, but not on its Unix socket', () => {
  let files: string;
  let postgres: PostgresServer;
  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), 'tls-'));
    makeCertificates(files);
    postgres = await PostgresServer.start({
      unix_socket_directories: files,
      ssl: 'on',
      ssl_cert_file: join(files, 'server.pem'),
      ssl_key_file: join(files, 'server.key'),
      ssl_ca_file: join(files, 'ca.pem'),
      hba_file: join(files, 'hba'),
    });
    const client = new Client(parseConnectionString(onSocket()).config());
    await client.connect();
    await client.query(`create role petstore superuser login password '${PASSWORD}'`);
    await client.query('create role certified superuser login');
    await client.end();
  });
  afterAll(async () => {
    await postgres?.remove();
    rmSync(files, { recursive: true });
  });

  const onSocket = () => `postgresql://postgres@/postgres?host=${files}&port=${postgres.port}`;
  const over = (host: string, user: string, query: string) =>
    `postgresql://${user}@${host}:${postgres.port}/postgres?${query.replaceAll('DIR', files)}`;

  async function open(url: string): Promise<boolean> {
    const database = await openDatabase({ url, directory: '' });
    const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    const [row] = await database.serviceSession().query<{ ssl: boolean }>(statement(text), []);
    await database.canWrite();
    await database.close();
    return row?.ssl === true;
  }

  test.each([
    ['sslmode=verify-full to the name in the certificate', 'localhost', 'sslmode=verify-full&sslrootcert=DIR/ca.pem'],
    ['sslmode=verify-ca to another name', '127.0.0.1', 'sslmode=verify-ca&sslrootcert=DIR/ca.pem'],
    ['sslmode=require and no CA certificate', '127.0.0.1', 'sslmode=require'],
  ])('accepts a connection with %s', async (_what, host, parameters) => {
    expect(await open(over(host, `petstore:${PASSWORD}`, parameters))).toBe(true);
  });

  test('accepts a connection with PGSSLMODE=require, which the URL does not have', async () => {
    const url = over('127.0.0.1', `petstore:${PASSWORD}`, '').replace(/\?$/, '');
    expect(await open(readConfig({ DATABASE_URL: url, PGSSLMODE: 'require' }).DATABASE_URL ?? '')).toBe(true);
  });

  test('accepts a client certificate instead of a password', async () => {
    const parameters = 'sslmode=verify-full&sslrootcert=DIR/ca.pem&sslcert=DIR/client.pem&sslkey=DIR/client.key';
    expect(await open(over('localhost', 'certified', parameters))).toBe(true);
  });

  test('is reached by its Unix socket, given as the parameter host or as the host of the URL', async () => {
    expect(await open(onSocket())).toBe(false);
    expect(await open(`postgresql://postgres@${encodeURIComponent(files)}:${postgres.port}/postgres`)).toBe(false);
  });

  test.each([
    ['over TLS', () => over('localhost', `petstore:${PASSWORD}`, 'sslmode=verify-full&sslrootcert=DIR/ca.pem')],
    ['over a Unix socket', onSocket],
  ])(
    'a statement is cancelled %s, at the deadline and when the client disconnects, without and with a cancel request',
    async (_what, url) => {
      const database = await openDatabase({ url: url(), directory: '' });
      const query = (sql: string) => database.serviceSession().query(statement(sql), []);
      const running = async () =>
        (await query("select from pg_stat_activity where state = 'active' and query like 'select pg_sleep(30)%'"))
          .length;
      const expectCancelled = async (deadline: Deadline, leave: () => void) => {
        const sleeping = database.sessionFor({ callerId: 'a', deadline }).query(statement('select pg_sleep(30)'), []);
        await until(async () => (await running()) === 1, 2);
        leave();
        await expect(sleeping).rejects.toBeInstanceOf(Ended);
        await until(async () => (await running()) === 0, 1);
      };
      const expectBothCancelled = async () => {
        await expectCancelled(new Deadline(300), () => undefined);
        const deadline = new Deadline(10_000);
        await expectCancelled(deadline, () => deadline.end());
      };
      await expectBothCancelled();
      await query('alter function pg_cancel_backend(integer) rename to renamed');
      await expectBothCancelled();
      await query('alter function renamed(integer) rename to pg_cancel_backend');
      await database.close();
    },
  );

  test.each([
    ['an address not in the certificate', '127.0.0.1', 'sslmode=verify-full&sslrootcert=DIR/ca.pem', /altnames/],
    ['a CA that the system does not trust', 'localhost', 'sslmode=verify-full', /certificate/],
    ['a CA other than sslrootcert', 'localhost', 'sslmode=verify-ca&sslrootcert=DIR/other.pem', /certificate/],
    ['an unencrypted connection', 'localhost', 'sslmode=disable', /no encryption/],
    ['an unencrypted connection by default', 'localhost', '', /no encryption/],
    ['a wrong password', 'localhost', 'sslmode=require&password=xhunter2', /password authentication failed/],
  ])('with %s, the start fails with a one-line error without the password', async (_what, host, parameters, reason) => {
    const { message } = await open(over(host, `petstore:${PASSWORD}`, parameters)).then(fail, (error: Error) => error);
    expect(message).toMatch(/^PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: [^\n]+$/);
    expect(message).toMatch(reason);
    expect(message).not.toContain(PASSWORD);
  });
});

function fail(): never {
  throw new Error('the database was opened');
}

/**
 * Creates two CAs, `ca` and `other`. `ca` signs a server certificate for `localhost`, and a client certificate for the role
 * `certified`.
 */
function makeCertificates(directory: string): void {
  const file = (name: string) => join(directory, name);
  const openssl = (line: string) => execFileSync('openssl', line.split(' '), { cwd: directory, stdio: 'pipe' });
  for (const name of ['ca', 'other'])
    openssl(`req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`);
  for (const [name, subject, extension] of [
    ['server', 'localhost', 'subjectAltName=DNS:localhost'],
    ['client', 'certified', 'extendedKeyUsage=clientAuth'],
  ]) {
    writeFileSync(file('ext'), extension ?? '');
    openssl(`req -newkey rsa:2048 -nodes -subj /CN=${subject} -keyout ${name}.key -out ${name}.csr`);
    const ca = '-CA ca.pem -CAkey ca.key -CAcreateserial';
    openssl(`x509 -req -in ${name}.csr ${ca} -days 2 -extfile ext -out ${name}.pem`);
  }
  const rules = ['local all all trust', 'hostssl all certified all cert', 'hostssl all all all scram-sha-256', ''];
  writeFileSync(file('hba'), rules.join('\n'));
  chmodSync(directory, 0o777);
  chmodSync(file('server.key'), 0o600);
  giveToServer(file('server.key'));
}
