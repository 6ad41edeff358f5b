import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const gateway = at('../dist/main.js');
/** The Redis server for the gateway that keeps its limits in Redis. */
export const redis = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379/9';

/** The key sent with every request, to the baselines too. */
export const API_KEY = `ps_benchbench00_${'0'.repeat(32)}`;

const gatewayEnvironment = { LOG_LEVEL: 'info', ADMIN_API_KEY: API_KEY };
/** Turns on the plugins of `baselines/app.mjs`. */
const plugins = { PLUGINS: 'true' };
const both = ['graphql', 'rest'];

/**
 * The servers to measure.
 * @typedef {object} Server
 * @property {string} name its name for `--only`
 * @property {string} title its name in the tables
 * @property {string} script the script Node runs
 * @property {('graphql' | 'rest')[]} faces the interfaces whose workloads the server runs
 * @property {('graphql' | 'rest')[]} [baselineOf] the interfaces on which ratios are relative to this server
 * @property {boolean} [gateway] whether it is the gateway, which migrates the database and has keys and quotas
 * @property {boolean} [embedded] whether it uses the embedded database, in a separate directory
 * @property {Record<string, string>} [env] environment variables in addition to PORT, HOST, DATABASE_URL and
 * NODE_ENV=production
 */

/** @type {Server[]} */
export const servers = [
  {
    name: 'gateway',
    title: 'gateway',
    script: gateway,
    faces: both,
    gateway: true,
    env: gatewayEnvironment,
  },
  {
    name: 'gateway-redis',
    title: 'gateway, Redis limiter',
    script: gateway,
    faces: both,
    gateway: true,
    env: { ...gatewayEnvironment, REDIS_URL: redis },
  },
  {
    name: 'gateway-embedded',
    title: 'gateway, embedded database',
    script: gateway,
    faces: both,
    gateway: true,
    embedded: true,
    env: gatewayEnvironment,
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
    name: 'mercurius-plugins',
    title: 'Mercurius + JIT + pg + plugins',
    script: at('baselines/mercurius.mjs'),
    faces: ['graphql'],
    env: plugins,
  },
  {
    name: 'fastify-plugins',
    title: 'Fastify + pg + plugins',
    script: at('baselines/fastify-pg.mjs'),
    faces: ['rest'],
    env: plugins,
  },
  {
    name: 'usual',
    title: 'Express + Apollo + type-graphql + Prisma',
    script: at('baselines/usual.mjs'),
    faces: both,
  },
];

/** The servers whose scripts exist. The gateway can start only after `npm run build`. */
export function startable(table) {
  const missing = table.filter(({ script }) => !existsSync(script));
  if (missing.length) {
    console.error(`Not built, skipped: ${missing.map(({ name }) => name).join(', ')} (run npm run build first)`);
  }
  return table.filter((server) => !missing.includes(server));
}
