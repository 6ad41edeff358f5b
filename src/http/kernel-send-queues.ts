import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { isValid, parse } from 'ipaddr.js';

/** Linux lists its TCP connections in these files (proc(5)): local address, remote address, state, `send:receive` queue. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ENTRY = /^ *\d+: (\S+ \S+) \S+ ([0-9A-F]+):/gm;

/**
 * The number of bytes in the kernel's send queue of each connection: written by this process, but not acknowledged by the client.
 * {@link sendQueueKey} makes the keys. Empty on other systems than Linux.
 */
export async function readSendQueues(): Promise<ReadonlyMap<string, number>> {
  const queues = new Map<string, number>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const [, key = '', queue = ''] of text.matchAll(ENTRY)) queues.set(key, Number.parseInt(queue, 16));
  }
  return queues;
}

/** The connection of a socket as Linux writes it; `undefined` if the socket is closed, or not a TCP socket. */
export function sendQueueKey({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  const [local, remote] = [localAddress, remoteAddress].map(withoutZone);
  if (local === undefined || remote === undefined) return undefined;
  return `${inHex(local, localPort)} ${inHex(remote, remotePort)}`;
}

/** Link-local addresses of IPv6 may end with a zone, such as `%eth0` (RFC 4007, section 11). */
function withoutZone(address = ''): string | undefined {
  const [plain = ''] = address.split('%', 1);
  return isValid(plain) ? plain : undefined;
}

/** Addresses are written as 32-bit words in the byte order of the processor, which is little-endian. */
function inHex(address: string, port = 0): string {
  const words = Buffer.from(parse(address).toByteArray()).swap32();
  return `${words.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
