// Loaded before the gateway (NODE_OPTIONS=--require). Makes stages of a request switchable in the running gateway. On
// SIGUSR2, switches the next stage off and on for a while, and appends the cost of the stage to STAGES_FILE. See
// stages.mjs.
const { subscribe } = require('node:diagnostics_channel');
const { appendFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');
const { HeaderMap } = require('@apollo/server');

const SLICE_MS = 100;

/** The stage that is switched off now. */
let off;

/** While the stage is off, replaces a function of a module or class. @param replace makes the replacement. */
function switchable(stage, owner, name, replace) {
  const original = functionOf(owner, name);
  const replacement = replace(original);
  owner[name] = function (...args) {
    return (off === stage ? replacement : original).apply(this, args);
  };
}

/** While the stage is off, replaces the hook that a function returns. */
function switchableHook(stage, owner, name, hook) {
  const original = functionOf(owner, name);
  owner[name] = (...args) => {
    const made = original(...args);
    return (...request) => (off === stage ? hook : made)(...request);
  };
}

/** @throws Error if there is no such function, since switching the stage off would then have no effect. */
function functionOf(owner, name) {
  if (typeof owner[name] !== 'function') throw new Error(`${name} is not a function of the gateway`);
  return owner[name];
}

/**
 * Creates a replacement that calls the original until `isKept` is true for a result. After that, the replacement always
 * returns this result.
 */
function repeated(isKept = () => true) {
  return (original) => {
    let kept;
    return function (...args) {
      if (kept !== undefined) return kept;
      const result = original.apply(this, args);
      if (isKept(result)) kept = result;
      return result;
    };
  };
}

const hooks = require('../../dist/http/common-headers.js');
const cors = require('../../dist/http/cors.js');
const early = require('../../dist/http/early-rejection.js');
const directive = require('../../dist/graphql/rate-limit-directive.js');
const apollo = require('../../dist/graphql/apollo.js');
const { serialize } = require('../../dist/graphql/serialization.js');
const { AccessLog } = require('../../dist/http/access-log.js');
const { KeyAuthenticator } = require('../../dist/access/key-authenticator.js');
const { MemoryStore } = require('../../dist/rate-limit/memory-store.js');

const next = (_request, _reply, done) => done();

switchable('limiter', MemoryStore.prototype, 'take', repeated());
switchable(
  'key lookup',
  KeyAuthenticator.prototype,
  'authenticate',
  repeated((found) => !(found instanceof Promise)),
);
switchable('access log and metrics', AccessLog.prototype, 'logResponse', () => () => undefined);
switchable('constant headers', hooks, 'setConstantHeaders', () => () => undefined);
switchableHook('limit headers', hooks, 'addHeaders', (_request, _reply, payload, done) => done(null, payload));
switchableHook('CORS', cors, 'allowOrigins', next);
switchableHook('early rejection', early, 'rejectEarly', next);

const { enforceRateLimits } = directive;
directive.enforceRateLimits = (schema) => {
  const limited = enforceRateLimits(schema);
  for (const type of [schema.getQueryType(), schema.getMutationType()])
    for (const [name, { resolve }] of Object.entries(type.getFields()))
      switchable('@rateLimit', limited.getType(type.name).getFields()[name], 'resolve', () => resolve);
  return limited;
};

const { createApollo } = apollo;
apollo.createApollo = async (executor, documents, plugins) => {
  const server = await createApollo(executor, documents, plugins);
  switchable('Apollo Server', server, 'executeHTTPGraphQLRequest', () => async ({ httpGraphQLRequest, context }) => {
    const { query, operationName, variables } = httpGraphQLRequest.body;
    const { status, body } = await executor.run(documents.read(query), operationName, variables ?? {}, await context());
    return { status, headers: new HeaderMap(), body: { kind: 'complete', string: serialize(body) } };
  });
  return server;
};

const STAGES = [
  'Apollo Server',
  '@rateLimit',
  'limiter',
  'key lookup',
  'constant headers',
  'limit headers',
  'CORS',
  'early rejection',
  'access log and metrics',
];

let requests = 0;
subscribe('http.server.response.finish', () => {
  requests++;
});

/** The average CPU time of the requests in the next slice, in microseconds. */
async function slice() {
  const [count, cpu] = [requests, process.cpuUsage()];
  await sleep(SLICE_MS);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / (requests - count);
}

/**
 * Compares each slice in which the stage is off with the slices before and after it.
 * @returns microseconds of CPU time per request: the median cost with all stages (`us`), and the median (`saved`) and
 * quartiles (`from`, `to`) of the saving
 */
async function measure(stage, pairs) {
  const saved = [];
  const costs = [];
  let before = await slice();
  for (let pair = 0; pair < pairs; pair++) {
    off = stage;
    const without = await slice();
    off = undefined;
    const after = await slice();
    costs.push(before, after);
    saved.push((before + after) / 2 - without);
    before = after;
  }
  const sorted = (values) => values.filter(Number.isFinite).sort((a, b) => a - b);
  const at = (values, part) => sorted(values)[Math.floor(sorted(values).length * part)];
  return { stage, us: at(costs, 0.5), saved: at(saved, 0.5), from: at(saved, 0.25), to: at(saved, 0.75) };
}

let index = 0;
process.on('SIGUSR2', async () => {
  const stage = STAGES[index++ % STAGES.length];
  const result = await measure(stage, Number(process.env.STAGES_PAIRS));
  appendFileSync(process.env.STAGES_FILE, `${JSON.stringify({ ...result, left: STAGES.length - index })}\n`);
});
