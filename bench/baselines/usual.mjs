// Compiles the server `usual`, which uses decorators, and the gateway's generated Prisma client. Then starts the server.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = join(root, 'bench', 'dist');

const options = {
  swcrc: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true },
    target: 'es2023',
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
};

rmSync(build, { recursive: true, force: true });
for (const folder of ['bench/baselines/usual', 'src/database/generated']) {
  for (const file of readdirSync(join(root, folder), { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const target = join(build, folder, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transformFileSync(join(root, folder, file), options).code);
  }
}

createRequire(import.meta.url)(join(build, 'bench/baselines/usual/server.js'));
