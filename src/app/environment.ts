import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The environment of the process, with defaults from `.env` in the working directory. */
export function environment(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.env;
}

/** The names in `.env` in the working directory, if there is one. */
export function namesInFile(): string[] {
  try {
    return Object.keys(parseEnv(readFileSync('.env', 'utf8')));
  } catch {
    return [];
  }
}
