import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ClientBase, ClientConfig } from 'pg';
import { Client } from 'pg';
import type { Cancellation } from './cancellation';
import type { Server } from './database-server';

/** PostgreSQL documentation, 55.7 Message Formats: CancelRequest, SSLRequest. */
const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;

/** How often a statement is cancelled before its response is given up, as the server does not say whether it runs. */
const ATTEMPTS = 3;
const PATIENCE_MS = 1_000;

interface Key {
  readonly processID: number;
  readonly secretKey: number;
  attempts: number;
}

/**
 * Cancels by the protocol's own request, with the key that a connection got when it opened. Behind a pooler, which hands
 * statements to any of its connections, that is what still names the statement.
 */
export class RequestedCancellation implements Cancellation {
  readonly isOver = false;
  private readonly keys = new WeakMap<ClientBase, Key>();

  constructor(private readonly server: Server) {}

  async opened(client: ClientBase): Promise<void> {
    const { processID, secretKey } = keyOf(client);
    this.keys.set(client, { processID, secretKey, attempts: 0 });
  }

  async cancel(client: ClientBase): Promise<boolean> {
    const key = this.keys.get(client);
    if (!key || key.attempts++ >= ATTEMPTS) return false;
    await send(this.server.configNow(), messageOf(CANCEL_REQUEST, key.processID, key.secretKey));
    return true;
  }
}

/** The key of a connection, by which its statement is cancelled; a pooler gives its own. */
function keyOf(client: ClientBase): { readonly processID: number; readonly secretKey: number } {
  // All clients are of this class, unless their pool says otherwise. Its types leave these out.
  return client as Client & { processID: number; secretKey: number };
}

/** Sends a message on a connection of its own, which the server closes once it has done what it asks. */
async function send({ host = '', port = 0, ssl }: ClientConfig, message: Buffer): Promise<void> {
  const isSocket = host.startsWith('/');
  let socket: Socket = isSocket ? connectSocket(`${host}/.s.PGSQL.${port}`) : connectSocket(port, host);
  const patience = setTimeout(() => socket.destroy(new Error('the cancellation took too long')), PATIENCE_MS);
  try {
    await once(socket, 'connect');
    if (ssl) {
      socket.write(messageOf(SSL_REQUEST));
      await once(socket, 'data');
      socket = connectTls({ socket, host, ...(ssl === true ? {} : ssl) });
      await once(socket, 'secureConnect');
    }
    // A pooler may forget the request of a connection that is closed before it has answered.
    socket.write(message);
    await once(socket.resume(), 'close');
  } finally {
    clearTimeout(patience);
    socket.destroy();
  }
}

function messageOf(...numbers: number[]): Buffer {
  const message = Buffer.alloc(4 + 4 * numbers.length);
  message.writeInt32BE(message.length);
  for (const [i, number] of numbers.entries()) message.writeInt32BE(number, 4 + 4 * i);
  return message;
}
