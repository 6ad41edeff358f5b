import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT, TYPESCRIPT } from '../../helper/command';

const LOGGER = join(PROJECT, 'src', 'http', 'logger.ts');
const [NODE, ...OPTIONS] = TYPESCRIPT;

/** A program that logs lines of varying length, in total more than a pipe can hold. */
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

test('processes that share a pipe write whole lines, however slowly the pipe is read', () => {
  // The shell creates the pipe, because Node would create a socket.
  const pipe = '("$0" $3 "$4" -e "$1" & "$0" $3 "$4" -e "$1" & wait) | "$0" -e "$2"';
  const log = execFileSync('sh', ['-c', pipe, NODE, WRITER, SLOW_READER, ...OPTIONS], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = log.split('\n').filter(Boolean);
  expect(lines).toHaveLength(8000);
  expect(lines.map((line) => JSON.parse(line)).filter(({ line }) => line === 3999)).toHaveLength(2);
});

test('a log with the level silent writes nothing', () => {
  const write = `require(${JSON.stringify(LOGGER)}).createLogger(process.argv[1]).fatal('heard')`;
  const written = (level: string) => execFileSync(NODE, [...OPTIONS, '-e', write, level], { encoding: 'utf8' });
  expect(written('fatal')).toContain('heard');
  expect(written('silent')).toBe('');
});
