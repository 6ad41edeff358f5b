import { connect } from 'node:net';
import { ADMIN_KEY } from './gateway';
import type { GatewayProcess } from './process';

/** What became of each connection: the status line of its answer, or the error. */
export type Outcomes = Record<string, number>;

/** What becomes of so many connections, if none is reset. */
export const allAnswered = (connections: number): Outcomes => ({ 'HTTP/1.1 200 OK': connections, 'exit 0': 1 });

/** Opens this many connections at once, each with a request, and then sends SIGTERM at once; waits for all, and for the end. */
export async function burstBefore(gateway: GatewayProcess, connections: number): Promise<Outcomes> {
  const { hostname, port } = new URL(gateway.url);
  const burst = Array.from({ length: connections }, (_, index) => answerOf(hostname, Number(port), index));
  const ended = gateway.stop('SIGTERM');
  const outcomes: Outcomes = {};
  for (const outcome of await Promise.all(burst)) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const { code, stderr } = await ended;
  return { ...outcomes, [`exit ${code}${stderr}`]: 1 };
}

function answerOf(host: string, port: number, index: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const path = index % 2 ? '/categories' : '/livez';
    const socket = connect({ host, port, noDelay: true });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${ADMIN_KEY}\r\nConnection: close\r\n\r\n`);
    socket.setEncoding('latin1').on('data', (data) => {
      text += data;
    });
    socket.on('error', ({ message }) => resolve(message));
    socket.on('close', () => resolve(text.split('\r\n', 1)[0] || 'closed without an answer'));
  });
}
