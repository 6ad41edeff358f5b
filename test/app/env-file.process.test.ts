import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, PROJECT } from '../helper/command';
import { GatewayProcess, MAIN, Program } from '../helper/process';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-env-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Starts the gateway with a file that should set `PORT` to `http`, which is invalid. @returns its error. */
async function failedStart(content?: string | Buffer, environment: Record<string, string> = {}): Promise<string> {
  if (content !== undefined) writeFileSync(join(directory, '.env'), content);
  const { code, stdout, stderr } = await new GatewayProcess(
    { DATA_DIR: '/dev/null/data', ...environment },
    MAIN,
    directory,
  ).ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^(petstore-gateway: [^\n]+\n)+$/);
  return stderr.trimEnd().replaceAll('petstore-gateway: ', '');
}

const IS_READ = 'PORT must be an integer from 0 to 65535, not "http"';

test.each([
  ['a byte order mark', '\ufeffPORT=http'],
  ['a line of blanks', 'HOST=127.0.0.1\n   \nPORT=http'],
  ['Windows line ends', '\r\nHOST=127.0.0.1\r\nPORT=http\r\n'],
  ['old Mac line ends', 'HOST=127.0.0.1\rPORT=http\r'],
  ['an empty value with blanks before it', 'METRICS_PORT=  \nPORT=http'],
])('.env with %s is read', async (_what, content) => {
  expect(await failedStart(content)).toBe(IS_READ);
});

test.each([
  ['a colon', 'HOST=h\nPORT: http', 'line 2: it has no "=". Write NAME=value. A comment must start with "#".'],
  ['a missing quote', 'PORT="http', 'line 1: its value has no closing ". Add it at the end of the value.'],
  ['UTF-16', Buffer.from('\ufeffPORT=http', 'utf16le'), 'line 1: the file is encoded in UTF-16. Save it as UTF-8.'],
  [
    'big-endian UTF-16',
    Buffer.from('\ufeffPORT=http', 'utf16le').swap16(),
    'line 1: the file is encoded in UTF-16. Save it as UTF-8.',
  ],
  [
    'UTF-16 without a mark',
    Buffer.from('PORT=http', 'utf16le'),
    'line 1: it contains a NUL byte. Save the file as UTF-8.',
  ],
  ['Latin-1', Buffer.from('HOST=é\nPORT=http', 'latin1'), 'line 1: it is not valid UTF-8. Save the file as UTF-8.'],
  [
    'one character too few',
    'LOGLEVEL=error',
    'line 1: LOGLEVEL is not a setting. Rename it to LOG_LEVEL, or remove the line.',
  ],
  [
    'one character too many',
    '#\nREDIS_URLS=x',
    'line 2: REDIS_URLS is not a setting. Rename it to REDIS_URL, or remove the line.',
  ],
  [
    'another character',
    'DATABASE-URL=x',
    'line 1: DATABASE-URL is not a setting. Rename it to DATABASE_URL, or remove the line.',
  ],
  [
    'a character of a variable of libpq too few',
    'PGPASWORD=secret',
    'line 1: PGPASWORD is not a setting. Rename it to PGPASSWORD, or remove the line.',
  ],
  ['swapped characters', 'PROT=4000', 'line 1: PROT is not a setting. Rename it to PORT, or remove the line.'],
  [
    'lower case',
    'anonymous_access=none',
    'line 1: anonymous_access is not a setting. Rename it to ANONYMOUS_ACCESS, or remove the line.',
  ],
])(
  '.env with %s stops the start with one line that names the line and the remedy, but no value',
  async (_what, content, message) => {
    expect(await failedStart(content)).toBe(`.env, ${message}`);
  },
);

test('.env that cannot be read stops the start with one line', async () => {
  mkdirSync(join(directory, '.env'));
  expect(await failedStart()).toBe(
    '.env cannot be read: EISDIR: illegal operation on a directory, read. Replace the directory by a file, or remove it.',
  );
  for (const [target, reason] of [
    ['.env', "ELOOP: too many symbolic links encountered, open '.env'"],
    ['nowhere', "ENOENT: no such file or directory, open '.env'"],
  ] as const) {
    rmSync(join(directory, '.env'), { recursive: true });
    symlinkSync(target, join(directory, '.env'));
    expect(await failedStart()).toBe(
      `.env cannot be read: ${reason}. Make it a file that the gateway can read, or remove it.`,
    );
  }
});

test('names in .env that are not settings are reported, and the environment takes precedence over .env', async () => {
  const content = 'POSTGRES_PASSWORD=x\nPORT=1\nPETSTORE_URL=x\nPOSTGRES_PASSWORD=y\nCOMPOSE_FILE=x\n';
  expect((await failedStart(content, { PORT: 'http' })).split('\n')).toEqual([
    '.env sets POSTGRES_PASSWORD, which is not a setting (docs/configuration.md).',
    '.env sets COMPOSE_FILE, which is not a setting (docs/configuration.md).',
    IS_READ,
  ]);
});

test('variables of libpq in .env take effect, and are not reported', async () => {
  const content = 'PGPASSWORD=x\nPGUSER=x\nDATABASE_URL=postgresql://db/shop\nPGSSLMODE=on\n';
  expect(await failedStart(content)).toMatch(/^DATABASE_URL must have sslmode=\S+ or [^\n]*, not "on"$/);
});

test('a copy of .env.example is a valid .env', async () => {
  copyFileSync(join(PROJECT, '.env.example'), join(directory, '.env'));
  expect(await failedStart(undefined, { PORT: 'http' })).toBe(IS_READ);
});

test.each(['seed', 'keys', 'dump'])('the command %s reads .env in the same way', async (name) => {
  writeFileSync(join(directory, '.env'), 'PORT: 4000');
  const { code, stderr } = await new Program(command(`app/${name}`), {}, directory).ended;
  expect([code, stderr]).toEqual([
    1,
    `${name}: .env, line 1: it has no "=". Write NAME=value. A comment must start with "#".\n`,
  ]);
});
