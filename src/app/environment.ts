import { lstatSync, readFileSync } from 'node:fs';
import { LIBPQ_VARIABLES } from '../database/postgres/connection-string';
import { SETTING_NAMES } from './config';
import { EnvFileError, parseEnvFile } from './env-file';

const FILE = '.env';

/** The settings, including settings that only the command-line tools or node-postgres read. */
const KNOWN = [...SETTING_NAMES, 'PETSTORE_URL', 'PETSTORE_API_KEY', ...LIBPQ_VARIABLES];

/** The variable of workers with the pid of the primary process that forked them. */
export const PRIMARY_PID = 'PETSTORE_PRIMARY_PID';

/** Whether the gateway's own primary process forked this process. */
export function isOwnWorker(): boolean {
  return process.env[PRIMARY_PID] === String(process.ppid);
}

/**
 * The environment variables of the process. Variables that are not set are read from `.env` in the working directory.
 * @param onUnknown called with each name in `.env` that is not a setting and does not resemble one. Such a name is not an
 * error, since Docker Compose reads the same file.
 * @throws Error with a one-line message if the file cannot be read, or if a setting would silently not be applied.
 */
export function environment(onUnknown: (name: string) => void = () => undefined): NodeJS.ProcessEnv {
  const isKnown = (name: string) => KNOWN.includes(name);
  const variables = parseEnvFile(readText(), isKnown);
  const unknown = variables.filter(({ name }) => !isKnown(name));
  for (const { name, line } of unknown) {
    const similar = KNOWN.find((setting) => isMisspelt(name, setting));
    if (similar) throw new EnvFileError(line, `${name} is not a setting. Rename it to ${similar}, or remove the line.`);
  }
  for (const name of new Set(unknown.map(({ name }) => name))) onUnknown(name);
  const values = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  return process.env;
}

/** The text of the file; empty without this file. */
function readText(): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(FILE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !lstatSync(FILE, { throwIfNoEntry: false })) return '';
    const remedy = code === 'EISDIR' ? 'Replace the directory by a file' : 'Make it a file that the gateway can read';
    throw new Error(`${FILE} cannot be read: ${message}. ${remedy}, or remove it.`);
  }
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new EnvFileError(1, 'the file is encoded in UTF-16. Save it as UTF-8.');
  return bytes.toString('utf8');
}

/** Whether the names differ by one character, by two swapped characters, or only in upper and lower case. */
function isMisspelt(name: string, setting: string): boolean {
  const given = name.toUpperCase();
  const shorter = Math.min(given.length, setting.length);
  let start = 0;
  while (start < shorter && given[start] === setting[start]) start++;
  let end = 0;
  while (end < shorter - start && given.at(-1 - end) === setting.at(-1 - end)) end++;
  const [is, should] = [given, setting].map((text) => text.slice(start, text.length - end)) as [string, string];
  return (is.length <= 1 && should.length <= 1) || (is.length === 2 && is === [...should].reverse().join(''));
}
