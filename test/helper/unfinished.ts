import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Begins a request and never finishes it. @returns its connection, once the server has begun to read the request. */
export async function unfinished(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const head = [
    'POST /pets HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Content-Length: 100',
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  socket.write('{');
  return socket;
}
