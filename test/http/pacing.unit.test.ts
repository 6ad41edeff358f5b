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

const connect = () => {
  const other = new Socket();
  requests.start({ raw: { socket: other } } as unknown as FastifyRequest, {} as FastifyReply);
  return other;
};
const reject = (count: number, on = socket, id = 'caller') =>
  Array.from({ length: count }, () => requests.paceRejection(on, { id }));

test('a connection gets twenty rejections at once, further rejections with growing delays, and is closed after a hundred', () => {
  const waits = reject(MOST + 1);
  expect(waits.slice(0, 20)).toEqual(Array(20).fill(0));
  const paced = waits.slice(20, MOST);
  expect(paced).toEqual(paced.toSorted((a, b) => a - b));
  expect(paced[0]).toBeGreaterThan(0);
  expect(paced.at(-1)).toBeLessThan(Infinity);
  expect(waits[MOST]).toBe(Infinity);
});

test('a response that is not a rejection ends the pacing of a connection', () => {
  reject(MOST);
  requests.unpace(socket);
  expect(reject(20, socket, 'other')).toEqual(Array(20).fill(0));
});

test('another connection of the caller is not paced, until the caller has had a hundred rejections', () => {
  reject(50);
  expect(reject(20, connect())).toEqual(Array(20).fill(0));
  reject(20, connect());
  reject(10, connect());
  const waits = reject(20, connect());
  expect(waits[0]).toBeGreaterThanOrEqual(0);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits[19]).toBeGreaterThan(20);
  expect(waits[19]).toBeLessThan(50);
  expect(reject(20, connect(), 'other')).toEqual(Array(20).fill(0));
});
