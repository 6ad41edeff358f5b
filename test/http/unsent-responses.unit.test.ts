import { Socket } from 'node:net';
import { UnsentResponses } from '../../src/http/unsent-responses';

const MIB = 1024 * 1024;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('beyond 128 MiB, the connections that have made no progress for the longest time are closed', () => {
  const unsent = new UnsentResponses();
  const sockets = Array.from({ length: 12 }, () => new Socket());
  const responses = sockets.map((socket, i) => {
    jest.advanceTimersByTime(10);
    return unsent.hold(`caller ${i}`, socket, 10 * MIB);
  });
  jest.advanceTimersByTime(10);
  responses[0]?.resize(9 * MIB);
  unsent.hold('caller 13', new Socket(), 10 * MIB);
  expect(unsent.total).toBeLessThanOrEqual(128 * MIB);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, ...Array(10).fill(false)]);
  expect(unsent.closed).toBe(1);
  expect(unsent.rejectionOf('caller 1')).toBeUndefined();
});

test('an event stream without unsent events is not closed', () => {
  const unsent = new UnsentResponses();
  const stream = new Socket();
  unsent.hold('reader', stream, MIB).resize(0);
  for (let i = 0; i < 20; i++) unsent.hold('greedy', new Socket(), 10 * MIB);
  expect(stream.destroyed).toBe(false);
});

test('a released response counts no longer, however often it is released', () => {
  const unsent = new UnsentResponses();
  const socket = new Socket();
  const [first, second] = [unsent.hold('caller', socket, 10 * MIB), unsent.hold('caller', socket, 10 * MIB)];
  expect(unsent.rejectionOf('caller')).toMatchObject({ code: 'RATE_LIMITED' });
  first.release();
  first.release();
  expect(unsent.rejectionOf('caller')).toBeUndefined();
  second.resize(0);
  expect(unsent.total).toBe(0);
  second.release();
  second.resize(MIB);
  expect(unsent.total).toBe(0);
});

test('a response that is cancelled is no progress of its connection', () => {
  const unsent = new UnsentResponses();
  const [stalled, reading] = [new Socket(), new Socket()];
  unsent.hold('silent', stalled, 60 * MIB);
  jest.advanceTimersByTime(10);
  unsent.hold('other', reading, 60 * MIB);
  jest.advanceTimersByTime(10);
  unsent.hold('silent', stalled, MIB).cancel();
  unsent.hold('third', new Socket(), 10 * MIB);
  expect([stalled.destroyed, reading.destroyed]).toEqual([true, false]);
});
