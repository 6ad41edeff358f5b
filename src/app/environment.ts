import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The environment variables of the process. Variables that are not set are read from `.env` in the working directory. */
export function environment(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.env;
}

/** The names of the variables in `.env` in the working directory; empty without this file. */
export function namesInFile(): string[] {
  try {
    return Object.keys(parseEnv(readFileSync('.env', 'utf8')));
  } catch {
    return [];
  }
}
