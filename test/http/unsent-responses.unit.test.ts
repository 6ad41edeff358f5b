import { Socket } from 'node:net';
import { UnsentResponses } from '../../src/http/unsent-responses';
import { until } from '../helper/until';

const MIB = 1024 * 1024;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('beyond 128 MiB, the connections that have made no progress for the longest time are closed', () => {
  const unsent = new UnsentResponses();
  const sockets = Array.from({ length: 12 }, () => new Socket());
  const responses = sockets.map((socket, i) => {
    jest.advanceTimersByTime(10);
    return unsent.hold({ id: `caller ${i}` }, socket, 10 * MIB);
  });
  jest.advanceTimersByTime(10);
  responses[0]?.resize(9 * MIB);
  unsent.hold({ id: 'caller 13' }, new Socket(), 10 * MIB);
  expect(unsent.total).toBeLessThanOrEqual(128 * MIB);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, ...Array(10).fill(false)]);
  expect(unsent.closed).toBe(1);
  expect(unsent.rejectionOf({ id: 'caller 1' })).toBeUndefined();
});

test('an event stream without unsent events is not closed', () => {
  const unsent = new UnsentResponses();
  const stream = new Socket();
  unsent.hold({ id: 'reader' }, stream, MIB).resize(0);
  for (let i = 0; i < 20; i++) unsent.hold({ id: 'greedy' }, new Socket(), 10 * MIB);
  expect(stream.destroyed).toBe(false);
});

test('a released response counts no longer, however often it is released', () => {
  const unsent = new UnsentResponses();
  const socket = new Socket();
  const [first, second] = [
    unsent.hold({ id: 'caller' }, socket, 10 * MIB),
    unsent.hold({ id: 'caller' }, socket, 10 * MIB),
  ];
  expect(unsent.rejectionOf({ id: 'caller' })).toMatchObject({ code: 'RATE_LIMITED' });
  first.release();
  first.release();
  expect(unsent.rejectionOf({ id: 'caller' })).toBeUndefined();
  second.resize(0);
  expect(unsent.total).toBe(0);
  second.release();
  second.resize(MIB);
  expect(unsent.total).toBe(0);
});

test('a response that is cancelled is no progress of its connection', () => {
  const unsent = new UnsentResponses();
  const [stalled, reading] = [new Socket(), new Socket()];
  unsent.hold({ id: 'silent' }, stalled, 60 * MIB);
  jest.advanceTimersByTime(10);
  unsent.hold({ id: 'other' }, reading, 60 * MIB);
  jest.advanceTimersByTime(10);
  unsent.hold({ id: 'silent' }, stalled, MIB).cancel();
  unsent.hold({ id: 'third' }, new Socket(), 10 * MIB);
  expect([stalled.destroyed, reading.destroyed]).toEqual([true, false]);
});

test('unsent bytes of an end user count for the user and for the address, unsent bytes of a key do not count for an address', () => {
  const unsent = new UnsentResponses();
  const hold = (id: string, address?: string) => unsent.hold({ id, address }, new Socket(), 6 * MIB);
  const held = [hold('user:ann', '192.0.2.1'), hold('user:ben', '192.0.2.1'), hold('192.0.2.1'), hold('key')];
  const isRejected = (id: string, address?: string) => unsent.rejectionOf({ id, address }) !== undefined;
  expect(isRejected('192.0.2.1')).toBe(true);
  expect(isRejected('user:eve', '192.0.2.1')).toBe(true);
  expect(isRejected('user:ann', '192.0.2.2')).toBe(false);
  expect(isRejected('key')).toBe(false);
  held[1]?.release();
  expect(isRejected('user:eve', '192.0.2.1')).toBe(false);
  hold('user:ann', '192.0.2.2');
  hold('user:ann', '192.0.2.3');
  expect(isRejected('user:ann', '192.0.2.4')).toBe(true);
  expect(isRejected('192.0.2.2')).toBe(false);
});

test('what a connection has not read counts for some time after it is closed for too many requests', async () => {
  jest.useRealTimers();
  const unsent = new UnsentResponses(50);
  const socket = new Socket();
  const response = unsent.hold({ id: 'caller' }, socket, 16 * MIB);
  unsent.closeFlooded(socket, { id: 'caller' });
  response.release();
  expect([socket.destroyed, unsent.total]).toEqual([true, 0]);
  expect(unsent.rejectionOf({ id: 'caller' })).toMatchObject({ code: 'RATE_LIMITED' });
  expect(unsent.rejectionOf({ id: 'other' })).toBeUndefined();
  await until(() => unsent.rejectionOf({ id: 'caller' }) === undefined);
});

test('sixteen connections in ten seconds may be closed for too many requests before their caller is rejected', () => {
  const unsent = new UnsentResponses();
  const close = () => unsent.closeFlooded(new Socket(), { id: 'caller' });
  for (let i = 0; i < 16; i++) close();
  expect(unsent.rejectionOf({ id: 'caller' })).toBeUndefined();
  close();
  expect(unsent.rejectionOf({ id: 'caller' })).toMatchObject({ code: 'RATE_LIMITED' });
});
