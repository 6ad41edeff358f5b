import { sendQueueKey } from '../../src/http/kernel-send-queues';

const socket = (localAddress: string | undefined, remoteAddress: string | undefined) =>
  sendQueueKey({ localAddress, localPort: 4000, remoteAddress, remotePort: 50000 } as Parameters<
    typeof sendQueueKey
  >[0]);

test.each([
  ['IPv4', '127.0.0.1', '0100007F'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '0000000000000000FFFF00000100007F'],
  ['IPv6', '::1', '00000000000000000000000001000000'],
  ['a link-local address', 'fe80::1', '000080FE000000000000000001000000'],
  ['a link-local address with a zone', 'fe80::1%br-1a2b.100', '000080FE000000000000000001000000'],
])('a connection over %s is named as in /proc/net/tcp', (_name, address, inHex) => {
  expect(socket(address, address)).toBe(`${inHex}:0FA0 ${inHex}:C350`);
});

test.each([
  ['a closed socket', undefined, undefined],
  ['a socket with an unknown kind of address', '127.0.0.1', 'somewhere'],
])('%s has no name', (_name, local, remote) => {
  expect(socket(local, remote)).toBeUndefined();
});
