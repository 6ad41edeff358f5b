import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { subjectOfAddress } from '../rate-limit/client-address';

/** An address may always have a quarter of the connections. */
const ADDRESS_FRACTION = 1 / 4;

/**
 * Closes new connections of addresses that have a quarter of `maxConnections` or more, once only a quarter is free. At its
 * maximum Node rejects connections of any address: without this, one client could take all of them, idle or with incomplete
 * headers. Not for use behind a proxy, whose address all connections have.
 */
export function limitConnectionsPerAddress(server: Server): void {
  const open = new Map<string, number>();
  const known = new WeakSet<Socket>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    // A connection whose offer of another protocol was ignored is emitted again.
    if (known.has(socket)) return;
    known.add(socket);
    const address = subjectOfAddress(socket.remoteAddress);
    const count = open.get(address) ?? 0;
    const most = Math.floor(server.maxConnections * ADDRESS_FRACTION);
    if (server.maxConnections - total <= most && count >= most) {
      socket.destroy();
      return;
    }
    total += 1;
    open.set(address, count + 1);
    socket.once('close', () => {
      total -= 1;
      const left = (open.get(address) ?? 1) - 1;
      if (left) open.set(address, left);
      else open.delete(address);
    });
  });
}
