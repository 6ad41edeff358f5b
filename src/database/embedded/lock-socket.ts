import { closeSync, existsSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

export const SOCKET = 'socket';
/** The longest path of a socket is 107 bytes on Linux, and 103 on macOS. */
const MAX_PATH_BYTES = 103;

/**
 * Opens a Unix socket in `directory`, for {@link probe}. Does nothing if the file system or the system has no sockets.
 * @returns a function that closes the socket.
 */
export async function listenIn(directory: string): Promise<() => void> {
  const address = addressOf(directory);
  if (!address) return () => undefined;
  const { path, close } = address;
  const server = createServer((connection) => connection.destroy()).unref();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ path, exclusive: true }, () => resolve(true));
  });
  if (!isListening) {
    close();
    return () => undefined;
  }
  server.on('error', () => undefined);
  return () => {
    server.close();
    close();
  };
}

/**
 * Tells whether a process of this kernel has the socket in `directory` open. The kernel accepts connections even while that
 * process is stopped. The namespaces of processes, networks and users do not matter.
 * @returns `refused` if there is a socket that no process of this kernel has open; `unknown` if there is no socket, or this
 * process may not connect to it.
 */
export async function probe(directory: string): Promise<'open' | 'refused' | 'unknown'> {
  const address = existsSync(join(directory, SOCKET)) && addressOf(directory);
  if (!address) return 'unknown';
  const { path, close } = address;
  try {
    return await new Promise((resolve) => {
      const connection = connect({ path });
      connection.once('connect', () => {
        connection.destroy();
        resolve('open');
      });
      connection.once('error', ({ code }: NodeJS.ErrnoException) => {
        // EAGAIN: too many connections wait for a process that is stopped.
        if (code === 'EAGAIN') resolve('open');
        else resolve(code === 'ECONNREFUSED' ? 'refused' : 'unknown');
      });
    });
  } finally {
    close();
  }
}

/**
 * Returns the path of the socket. If the path is too long, returns a short path through `/proc/self/fd` on Linux, which is valid
 * until `close`, and `undefined` on other systems. Node 20 would truncate a path that is too long.
 */
function addressOf(directory: string): { path: string; close: () => void } | undefined {
  const path = join(directory, SOCKET);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, close: () => undefined };
  if (process.platform !== 'linux') return undefined;
  const descriptor = openSync(directory, 'r');
  return { path: `/proc/self/fd/${descriptor}/${SOCKET}`, close: () => closeSync(descriptor) };
}
