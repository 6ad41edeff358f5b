// Generates the Prisma client. The CLI first looks for its native schema engine and would download it, but generating
// does not use it: any existing file will do. The variable is set for this child process only, because with it `prisma
// migrate` would succeed without doing anything.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status } = spawnSync(process.execPath, [prisma, 'generate', '--no-hints'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: 'true',
    CHECKPOINT_DISABLE: '1',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.exit(status ?? 1);
