import { connect } from 'node:net';
import { type Response, responsesIn } from './messages';

/** Sends `text`, and returns the raw response once the server closes the connection or sends nothing for a moment. */
export function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    socket.setTimeout(500, () => socket.destroy());
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('close', () => resolve(received)).on('error', reject);
    socket.write(text);
  });
}

/** Parses a response. @throws Error if it is incomplete. */
export function parseResponse(text: string): Response {
  const [response] = responsesIn(Buffer.from(text).toString('latin1'));
  if (!response) throw new Error(`incomplete response: ${text}`);
  return response;
}
