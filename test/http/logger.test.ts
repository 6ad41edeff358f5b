import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createLogger } from '../../src/http/logger';

const LOGGER = join(__dirname, '..', '..', 'dist', 'http', 'logger.js');

/** Logs more than a pipe holds, in lines of varying length. */
const WRITER = `
  const logger = require(${JSON.stringify(LOGGER)}).createLogger('info', 2);
  let lines = 0;
  const more = setInterval(() => {
    for (let i = 0; i < 200; i++) logger.info({ line: lines++, text: 'x'.repeat((lines * 37) % 400) }, 'request');
    if (lines === 4000) clearInterval(more);
  }, 2);
`;

const SLOW_READER = `
  process.stdin.on('data', (data) => {
    process.stdout.write(data);
    process.stdin.pause();
    setTimeout(() => process.stdin.resume(), 10);
  });
`;

test('processes that share a pipe write whole lines, however slow its reader is', () => {
  // The pipe is the shell's: Node would create a socket.
  const pipe = '("$0" -e "$1" & "$0" -e "$1" & wait) | "$0" -e "$2"';
  const log = execFileSync('sh', ['-c', pipe, process.execPath, WRITER, SLOW_READER], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = log.split('\n').filter(Boolean);
  expect(lines).toHaveLength(8000);
  expect(lines.map((line) => JSON.parse(line)).filter(({ line }) => line === 3999)).toHaveLength(2);
});

test('a silent log has no timer', () => {
  const start = jest.spyOn(globalThis, 'setInterval');
  createLogger('silent').fatal('unheard');
  expect(start).not.toHaveBeenCalled();
  createLogger('info');
  expect(start).toHaveBeenCalledTimes(1);
  clearInterval(start.mock.results[0]?.value);
});
