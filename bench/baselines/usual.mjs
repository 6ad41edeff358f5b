// Compiles the server `usual`, which uses decorators, and the gateway's generated Prisma client. Then starts the server.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import gateway from '../../build.cjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = join(root, 'bench', 'dist');

const options = { configFile: false, swcrc: false, jsc: gateway.options.jsc, module: { type: 'commonjs' } };

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
