// Copies what the pages need of packages for browsers, which are then not needed to run the gateway, and generates the Prisma
// client. The CLI first looks for its native schema engine and would download it, but generating
// does not use it: any existing file will do. The variable is set for this child process only, because with it `prisma
// migrate` would succeed without doing anything.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Files of packages for `src/portal/vendor`: GraphiQL with its dependencies, Swagger UI, and the search of the guides. */
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
