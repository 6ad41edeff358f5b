import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import pino from 'pino';
import { AccessLog } from '../../../src/http/access-log';

function accessLog(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level, base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const written = new AccessLog(logger, { observe: () => undefined, observeError: () => undefined });
  const note = (requestId: string, operation = 'getPet', status = 200) =>
    written.record(
      {
        requestId,
        method: 'GET',
        caller: '192.0.2.1',
        operation,
        operationName: undefined,
        status,
        code: undefined,
        ms: 1.26,
      },
      false,
    );
  return { written, note, lines };
}

const LINE = {
  method: 'GET',
  caller: '192.0.2.1',
  operation: 'getPet',
  status: 200,
  ms: 1.3,
  msg: 'request',
};

test('lines are written within 50 ms, in the order of the responses', async () => {
  const { note, lines } = accessLog();
  note('one');
  note('two');
  expect(lines).toEqual([]);
  await sleep(50);
  expect(lines).toEqual(['one', 'two'].map((requestId) => expect.objectContaining({ ...LINE, requestId })));
  note('three');
  await sleep(50);
  expect(lines).toHaveLength(3);
});

test('a batch of 256 lines is written at once', () => {
  const many = accessLog();
  for (let i = 0; i < 256; i++) many.note(String(i));
  expect(many.lines).toHaveLength(256);
});

test('pending lines are written when the server closes and when the process exits', async () => {
  const { written, note, lines } = accessLog();
  const before = process.listeners('exit');
  const app = fastify();
  written.closeWith(app);
  const [atExit] = process.listeners('exit').filter((listener) => !before.includes(listener));
  note('one');
  atExit?.(0);
  expect(lines).toHaveLength(1);
  note('two');
  await app.close();
  expect(lines).toHaveLength(2);
  expect(process.listeners('exit')).toEqual(before);
  note('three');
  expect(lines).toHaveLength(3);
});

test.each([
  ['info', ['health 503', 'metrics 401', 'getPet 200']],
  ['debug', ['health 200', 'health 503', 'metrics 200', 'metrics 401', 'getPet 200']],
])('at the log level %s, the access log contains only these of five requests: %s', async (level, written) => {
  const { note, lines } = accessLog(level);
  for (const [operation, status] of [
    ['health', 200],
    ['health', 503],
    ['metrics', 200],
    ['metrics', 401],
    ['getPet', 200],
  ] as const)
    note('one', operation, status);
  await sleep(50);
  expect(lines.map(({ operation, status }) => `${operation} ${status}`)).toEqual(written);
});
