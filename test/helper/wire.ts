import { connect } from 'node:net';
import { type Response, requestsIn, responsesIn } from './messages';

/**
 * Sends `text`, and returns what the server sends until it closes the connection, or until every request in `text` has its
 * response.
 * @param untilClosed whether to wait until the server closes the connection.
 */
export function exchange(url: string, text: string, untilClosed = false): Promise<string> {
  const { hostname, port } = new URL(url);
  const requests = requestsIn(text);
  let received = '';
  const isAnswered = () =>
    /HTTP\/1\.1 101 .*\r\n\r\n/s.test(received) ||
    responsesIn(received, requests).length >= Math.max(requests.length, 1);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    socket.on('data', (data) => {
      received += data;
      if (!untilClosed && isAnswered()) socket.destroy();
    });
    socket.on('close', () => resolve(Buffer.from(received, 'latin1').toString())).on('error', reject);
    socket.write(text);
  });
}

/** Parses a response. @throws Error if it is incomplete. */
export function parseResponse(text: string): Response {
  const [response] = responsesIn(Buffer.from(text).toString('latin1'));
  if (!response) throw new Error(`incomplete response: ${text}`);
  return response;
}
