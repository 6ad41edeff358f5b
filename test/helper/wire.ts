import { connect } from 'node:net';
import { type Response, responsesIn } from './messages';

/** What stands on the wire in answer to `text`, until the other side is silent for a moment or closes. */
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

/** Takes a response apart. @throws Error when it is not whole. */
export function parseResponse(text: string): Response {
  const [response] = responsesIn(Buffer.from(text).toString('latin1'));
  if (!response) throw new Error(`no whole response: ${text}`);
  return response;
}
