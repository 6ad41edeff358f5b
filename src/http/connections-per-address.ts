import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { idOfAddress } from '../rate-limit/client-address';

/** The fraction of `maxConnections` to which an address is limited when few connections are free. */
const ADDRESS_FRACTION = 1 / 4;

/**
 * Limits the connections per address. While three quarters of `maxConnections` or more are in use, an address that holds a
 * quarter or more gets no further connections. Without this limit, a single client could use up all connections, for example with
 * idle connections, and Node would reject all other clients. Do not use this limit behind a proxy, where all connections have the
 * proxy's address.
 */
export function limitConnectionsPerAddress(server: Server): void {
  const open = new Map<string, number>();
  const known = new WeakSet<Socket>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    // `parseAgain` in live/upgrades.ts emits `connection` a second time for the same socket.
    if (known.has(socket)) return;
    known.add(socket);
    const address = idOfAddress(socket.remoteAddress);
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
