// Copies the browser builds of packages to `src/portal/vendor`, and generates the Prisma client. The gateway then runs
// without these packages.
//
// Prisma's CLI would download its native schema engine, although generating the client does not use it. The variable
// PRISMA_SCHEMA_ENGINE_BINARY prevents the download; its value may be any existing file. The variable is set only for this
// child process, because with the variable `prisma migrate` would succeed without doing anything.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The files to copy, by their names in `src/portal/vendor`: GraphiQL with its dependencies, Swagger UI, and MiniSearch. */
const VENDOR = {
  'react.js': 'react/umd/react.production.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphiql.css': 'graphiql/graphiql.min.css',
  'swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  'minisearch.js': 'minisearch/dist/es/index.js',
};

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

if (!Object.values(VENDOR).every((file) => existsSync(at(`node_modules/${file}`)))) {
  console.error(
    'petstore-gateway: nothing was generated, because only npm ci --include=dev installs what compiling needs',
  );
  // `npm ci --omit=dev` succeeds, for a `dist` that was compiled elsewhere.
  process.exit(process.env.npm_lifecycle_event === 'postinstall' ? 0 : 1);
}
for (const [name, file] of Object.entries(VENDOR)) cpSync(at(`node_modules/${file}`), at(`src/portal/vendor/${name}`));

const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status } = spawnSync(process.execPath, [prisma, 'generate', '--no-hints', '--schema', 'prisma'], {
  cwd: at(''),
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: 'true',
    CHECKPOINT_DISABLE: '1',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.exit(status ?? 1);
