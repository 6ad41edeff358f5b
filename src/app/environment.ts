import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The environment of the process, completed from `.env` in the working directory, which never overrides it. */
export function environment(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.env;
}

/** The names that `.env` in the working directory sets; none without one. */
export function namesInFile(): string[] {
  try {
    return Object.keys(parseEnv(readFileSync('.env', 'utf8')));
  } catch {
    return [];
  }
}
