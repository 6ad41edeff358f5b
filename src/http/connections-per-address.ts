import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { subjectOfAddress } from '../rate-limit/client-address';

/** An address's share of the connections is one of this many, as a caller's is of the requests. */
const SHARES = 4;

/**
 * While no more than one share of the connections is left, closes new ones from addresses that already have theirs: nobody
 * takes the connections of the others by opening many and sending nothing, or half a head, which is no request yet. Node
 * itself, at its maximum, would refuse whoever comes next. Behind a proxy, whose address all connections have, it does that.
 */
export function limitConnectionsPerAddress(server: Server): void {
  const open = new Map<string, number>();
  const known = new WeakSet<Socket>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    // A connection that is upgraded is announced again.
    if (known.has(socket)) return;
    known.add(socket);
    const address = subjectOfAddress(socket.remoteAddress);
    const count = open.get(address) ?? 0;
    const share = Math.floor(server.maxConnections / SHARES);
    if (server.maxConnections - total <= share && count >= share) {
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
