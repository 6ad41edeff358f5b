import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { PostgresServer } from '../../src/database/postgres/postgres-server';
import { freePort } from '../helper/free-port';

const AUTHENTICATION_OK = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

let silent: NetServer;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

/** Starts a server that accepts every login, and then never responds. @returns its port. */
async function listen(): Promise<number> {
  const port = await freePort();
  silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY])));
  });
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
  return port;
}

test('if the server stops responding after the login, connecting fails at the connection timeout', async () => {
  const server = new PostgresServer(`postgresql://user@127.0.0.1:${await listen()}/db?target_session_attrs=read-write`);
  const started = performance.now();
  await expect(server.connect(200)).rejects.toThrow('Connection terminated');
  expect(performance.now() - started).toBeLessThan(5_000);
});
