// Compares the costs of a request in different forms: by POST or GET, with the text of a document or its persisted-query
// hash, and with the headers of several clients. See README.md.
import { createHash } from 'node:crypto';
import { costOf } from './lib/cost.mjs';
import { load, prepare } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { servers } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

/** Maximum cost of a form, as a multiple of the cost of the cheapest form. */
const MOST = 1.3;

const { query } = works[0].request(0).body;
const conditional = query
  .replace('$id: ID!', '$id: ID!, $named: Boolean = true')
  .replace(' name', ' name @include(if: $named)');
const [, fields] = /\) {(.*)}$/.exec(query);
const several = query.replace(fields, ` a:${fields} b:${fields} c:${fields}`);
/** The forms with several root fields, and the number of these fields. The cost of such a form is divided by this number. */
const ROOT_FIELDS = { 'three root fields, each': 3 };
const hash = (text) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
});
const post = (body, headers) => ({ method: 'POST', path: '/graphql', body, headers });
const get = (parameters) => ({
  method: 'GET',
  path: `/graphql?${new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )}`,
});

/** The Accept headers of urql and of Apollo Client 4. */
const URQL =
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed';
const APOLLO = 'application/graphql-response+json,application/json;q=0.9';

const FORMS = {
  'text by POST': (variables) => post({ query, variables }),
  'text by POST, with a charset': (variables) =>
    post({ query, variables }, { 'content-type': 'application/json; charset=utf-8' }),
  'text by POST, Accept: */*': (variables) => post({ query, variables }, { accept: '*/*' }),
  'text by POST, of Relay': (variables) => post({ query, variables }, { accept: 'application/json' }),
  'text by POST, of urql': (variables) => post({ query, variables }, { accept: URQL }),
  'text by POST, of Apollo Client': (variables) => post({ query, variables }, { accept: APOLLO }),
  'text by POST, with extensions': (variables) => post({ query, variables, extensions: { client: 'any' } }),
  'text by POST, with @include': (variables) => post({ query: conditional, variables }),
  'three root fields, each': (variables) => post({ query: several, variables }),
  'hash by POST': (variables) => post({ variables, extensions: hash(query) }),
  'text by GET': (variables) => get({ query, variables }),
  'hash by GET': (variables) => get({ variables, extensions: hash(query) }),
};

const options = readOptions({ rounds: '12', seconds: '0.5' });
pinLoad();
const gateway = servers.find(({ name }) => name === 'gateway');

await onStage([gateway], options.database, async ({ running: [{ port, pid, url }] }) => {
  await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { id: '1' }, extensions: hash(query) }),
  });
  const forms = Object.entries(FORMS).map(([title, request]) => {
    const work = { face: 'graphql', request: (i) => request({ id: String(1 + (i % 10_000)) }) };
    return { title, requests: prepare(work, port), costs: [] };
  });
  const measure = async ({ title, requests }, seconds) => {
    const before = costOf(pid).cpuMs;
    const result = await load(port, requests, { ...options, seconds });
    const [failure] = result.failures.keys();
    if (failure) throw new Error(failure);
    return (costOf(pid).cpuMs - before) / result.requests / (ROOT_FIELDS[title] ?? 1);
  };
  for (const form of forms) await measure(form, options.warmup);
  for (let round = 0; round < options.rounds; round++)
    for (const form of forms) form.costs.push(await measure(form, options.seconds));

  const quartile = ({ costs }) => costs.sort((a, b) => a - b)[Math.floor(costs.length / 4)];
  const least = Math.min(...forms.filter(({ title }) => !ROOT_FIELDS[title]).map(quartile));
  for (const form of forms) {
    const ratio = quartile(form) / least;
    console.log(`${form.title.padEnd(30)} ${quartile(form).toFixed(3)} CPU-ms (${ratio.toFixed(2)})`);
    if (ratio > MOST) process.exitCode = 1;
  }
});
