import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const gateway = at('../dist/main.js');
/** What `npm start` tells V8. */
const flags = JSON.parse(readFileSync(at('../package.json'), 'utf8')).scripts.start.match(/--\S+/g) ?? [];
/** Where the gateway counts that has its limits in Redis. */
export const redis = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379/9';

/** The key that every request carries, to the baselines too. */
export const API_KEY = `ps_benchbench00_${'0'.repeat(32)}`;

const gatewayEnvironment = { LOG_LEVEL: 'info', ADMIN_API_KEY: API_KEY };
const both = ['graphql', 'rest'];

/**
 * Everything that is measured.
 * @typedef {object} Server
 * @property {string} name what `--only` calls it
 * @property {string} title its row in the table
 * @property {string} script what Node runs
 * @property {('graphql' | 'rest')[]} faces the works it takes part in
 * @property {('graphql' | 'rest')[]} [baselineOf] the works whose ratios are against it
 * @property {boolean} [gateway] migrates the database, has keys and quotas
 * @property {string[]} [flags] what Node is told
 * @property {Record<string, string>} [env] beside PORT, HOST, DATABASE_URL and NODE_ENV=production
 */

/** @type {Server[]} */
export const servers = [
  {
    name: 'gateway',
    title: 'gateway',
    script: gateway,
    flags,
    faces: both,
    gateway: true,
    env: gatewayEnvironment,
  },
  {
    name: 'gateway-redis',
    title: 'gateway, Redis limiter',
    script: gateway,
    flags,
    faces: both,
    gateway: true,
    env: { ...gatewayEnvironment, REDIS_URL: redis },
  },
  {
    name: 'gateway-off',
    title: 'gateway, limiter and key look-up off',
    script: gateway,
    flags,
    faces: both,
    gateway: true,
    env: { ...gatewayEnvironment, NODE_OPTIONS: `--require=${at('limiter-off.cjs')}` },
  },
  {
    name: 'mercurius',
    title: 'Mercurius + JIT + pg',
    script: at('baselines/mercurius.mjs'),
    faces: ['graphql'],
    baselineOf: ['graphql'],
  },
  {
    name: 'fastify-pg',
    title: 'Fastify + pg',
    script: at('baselines/fastify-pg.mjs'),
    faces: ['rest'],
    baselineOf: ['rest'],
  },
  {
    name: 'usual',
    title: 'Express + Apollo + type-graphql + Prisma',
    script: at('baselines/usual.mjs'),
    faces: both,
  },
];

/** Those that can start: the gateway only once it is built. */
export function startable(table) {
  const missing = table.filter(({ script }) => !existsSync(script));
  if (missing.length) {
    console.error(`Not built, left out: ${missing.map(({ name }) => name).join(', ')} (npm run build first)`);
  }
  return table.filter((server) => !missing.includes(server));
}
