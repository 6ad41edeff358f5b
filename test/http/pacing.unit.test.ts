import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestsInProgress } from '../../src/http/requests-in-progress';

/** The number of consecutive rejections after which a connection is closed (docs/bounds.md). */
const MOST = 100;

let requests: RequestsInProgress;
let socket: Socket;
beforeEach(() => {
  requests = new RequestsInProgress(10_000, 100);
  socket = new Socket();
  requests.start({ raw: { socket } } as unknown as FastifyRequest, {} as FastifyReply);
});

const reject = (count: number) => Array.from({ length: count }, () => requests.paceRejection(socket));

test('a connection gets twenty rejections at once, further rejections with growing delays, and is closed after a hundred', () => {
  const waits = reject(MOST + 1);
  expect(waits.slice(0, 20)).toEqual(Array(20).fill(0));
  const paced = waits.slice(20, MOST);
  expect(paced).toEqual(paced.toSorted((a, b) => a - b));
  expect(paced[0]).toBeGreaterThan(0);
  expect(paced.at(-1)).toBeLessThan(Infinity);
  expect(waits[MOST]).toBe(Infinity);
});

test('a response that is not a rejection ends the pacing', () => {
  reject(MOST);
  requests.unpace(socket);
  expect(reject(20)).toEqual(Array(20).fill(0));
});

test('other connections are not paced', () => {
  reject(MOST);
  const other = new Socket();
  requests.start({ raw: { socket: other } } as unknown as FastifyRequest, {} as FastifyReply);
  expect(requests.paceRejection(other)).toBe(0);
});
