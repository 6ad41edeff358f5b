import { match, ok, strictEqual } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { restore, totals } from './database.mjs';
import { API_KEY } from './servers.mjs';
import { accept } from './works.mjs';

/** The indexes of the requests that are compared in each workload. All servers must respond to them alike. */
const SAMPLES = [0, 1, 2, 1234];

/**
 * Sends every server the same requests, and compares the responses with the baseline: status, payload and, for GraphQL, the
 * order of fields. For writes, the assigned ids are not compared, and the totals of the tables must change exactly as
 * expected.
 * @returns the differences, by server name; empty if there are no differences
 */
export async function verify(work, running, databaseUrl) {
  const reference = running.find(({ baselineOf }) => baselineOf?.includes(work.face)) ?? running[0];
  const wrong = new Map();
  let expected;
  for (const server of [reference, ...running.filter((other) => other !== reference)]) {
    try {
      const read = () => ask(server, work);
      // Only the server of an embedded database can read the database, so changes of the tables are not checked.
      const answers = await (server.embedded ? read() : changing(work, databaseUrl, read));
      expected ??= answers;
      answers.forEach((actual, sample) => {
        same(actual, expected[sample]);
      });
    } catch (error) {
      const message = error.message.replace(/\s+/g, ' ').slice(0, 300);
      wrong.set(server.name, `differs from ${reference.name}: ${message}`);
    }
  }
  if (work.writes) await restore(databaseUrl);
  return wrong;
}

/** Runs `action`, checks that it changed the tables by exactly the writes in `SAMPLES`, and returns its result. */
async function changing(work, databaseUrl, action) {
  const before = await totals(databaseUrl);
  const result = await action();
  same(change(before, await totals(databaseUrl)), expectedChange(work));
  return result;
}

/** Compares by value; the error quotes only the text around the first difference. */
function same(actual, expected) {
  if (isDeepStrictEqual(actual, expected)) return;
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  let at = 0;
  while (a[at] === b[at] && at < a.length) at++;
  const near = (text) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(`${near(a)} instead of ${near(b)}`);
}

async function ask(server, work) {
  const answers = [];
  for (const i of SAMPLES) answers.push(comparable(work, await answer(server, work, i)));
  return answers;
}

async function answer({ url }, work, i) {
  const { method, path, body } = work.request(i);
  const headers = { 'x-api-key': API_KEY, accept: accept[work.face] };
  if (body) headers['content-type'] = 'application/json';
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, payload: await response.json() };
}

function comparable({ face, writes }, { status, payload }) {
  const text = JSON.stringify(payload);
  if (face === 'rest') {
    strictEqual(status, writes ? 201 : 200, text);
    return { status, payload: writes ? withoutId(payload, 'number') : payload };
  }
  ok(!payload.errors && payload.data && status === 200, `${status} ${text}`);
  const [[field, value]] = Object.entries(payload.data);
  const data = { [field]: writes ? withoutId(value, 'string') : value };
  return { status, payload: JSON.stringify(data) };
}

function withoutId(value, type) {
  strictEqual(typeof value.id, type);
  match(String(value.id), /^[1-9]\d*$/);
  return { ...value, id: 'assigned' };
}

function change(before, after) {
  return Object.fromEntries(Object.keys(before).map((key) => [key, after[key] - before[key]]));
}

function expectedChange({ name }) {
  const count = SAMPLES.length;
  return {
    pets: name.endsWith('create-pet') ? count : 0,
    orders: name === 'place-order' ? count : 0,
    sold: name === 'place-order' ? count : 0,
  };
}
