// Generates clients from openapi.json in a directory, with the default options of each generator, and prints type errors.
// Runs as a separate process, because Jest cannot load the generators, which are ES modules. The argument is the directory,
// which contains a copy of the files in generated-clients/.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { generateApi } from 'swagger-typescript-api';

const directory = resolve(process.argv[2]);
const input = join(directory, 'openapi.json');

await createClient({ input, output: join(directory, 'hey-api'), logs: { level: 'silent' } });
await generateApi({ input, output: join(directory, 'swagger'), fileName: 'Api.ts', silent: true });
writeFileSync(join(directory, 'openapi.ts'), astToString(await openapiTS(readFileSync(input, 'utf8'))));

const clients = readdirSync(directory).filter((name) => name.endsWith('-client.ts'));
const options =
  '--ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --lib es2024,dom --module preserve --types node'.split(
    ' ',
  );
const { stdout } = spawnSync(
  process.execPath,
  [createRequire(import.meta.url).resolve('typescript/bin/tsc'), ...options, ...clients],
  { cwd: directory, encoding: 'utf8' },
);
process.stdout.write(stdout);
