import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { WebSocket } from 'ws';

let addresses = 0;
/** Returns a new client address, so that each abuse comes from a different address. */
const newAddress = () => `192.0.${Math.floor(++addresses / 250)}.${1 + (addresses % 250)}`;

/**
 * An abuse by one caller. It runs until the time `until`.
 * @typedef {object} Abuse
 * @property {(context: object) => Promise<unknown>} [prepare] runs before the measurement; the abuse gets its result as `prepared`
 * @property {(context: object) => Promise<unknown>} [ordinary] sends as many ordinary requests, during the measurement without
 * the abuse. The comparison then shows what the abuse costs in addition
 * @property {number} [allowedMs] allowed increase of the other caller's median response time, in milliseconds
 * @property {Record<string, string>} [env] settings of a separate gateway
 * @property {boolean} [isCold] whether a new gateway gets the abuse before V8 has compiled its code. Then only `/livez` is measured
 * @property {boolean} [onPostgres] whether it needs a PostgreSQL server
 */

/**
 * Sends one document after another on each connection, until the time is up.
 * @param hasKey whether the caller sends a key. The key has a quota that the caller cannot use up, so its documents must run.
 * @returns the number of responses by status and error code, as text.
 */
const documents =
  (documentOf, connections = 8, hasKey = false) =>
  async ({ url, until, key: adminKey }) => {
    const answers = new Map();
    const key = hasKey ? { 'x-api-key': await newKey(url, adminKey) } : {};
    const note = (answer) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const address = newAddress();
    let sent = 0;
    const client = async () => {
      while (performance.now() < until) {
        const response = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...key },
          body: JSON.stringify({ query: documentOf(sent++) }),
        });
        const text = await response.text();
        note(`${response.status} ${/"code":"(\w+)"/.exec(text.slice(0, 2000))?.[1] ?? `${text.length} bytes`}`);
        // Pauses after each rejection. `bench/flood.mjs` measures a caller that does not pause.
        if (response.status === 429) await sleep(100);
      }
    };
    await Promise.all(Array.from({ length: connections }, client));
    const hasRun = [...answers.keys()].some((answer) => answer.startsWith('200'));
    return { answer: textOf(answers), failure: hasKey && !hasRun && 'no document was accepted' };
  };

/** The number of responses of each kind, as text. */
const textOf = (answers) => [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');

const repeat = (count, one) => Array.from({ length: count }, (_, i) => one(i)).join(' ');
const long = (i, length) => `a${i}_${'x'.repeat(length)}`;

/** Keeps sockets with incomplete requests open. @param requestTo returns the text to send, for a client address. */
const halfSent =
  (requestTo) =>
  async ({ port, until }) => {
    const sockets = [];
    const answers = new Map();
    const address = newAddress();
    while (performance.now() < until) {
      while (sockets.length < 1_010) {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        socket.once('data', (data) => {
          const status = String(data).slice(9, 12);
          answers.set(status, (answers.get(status) ?? 0) + 1);
        });
        socket.write(requestTo(address));
        // The thread that measures runs on the same core, and must not wait while this thread opens sockets.
        if (sockets.push(socket) % 50 === 0) await sleep(1);
      }
      await sleep(100);
    }
    for (const socket of sockets) socket.destroy();
    return `${sockets.length} sockets; ${textOf(answers) || 'none answered'}`;
  };

const open = async (port, key = {}) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
    headers: { 'x-forwarded-for': newAddress(), ...key },
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  return socket;
};

/** Sends the smallest possible message over one WebSocket, as fast as possible. */
async function pings({ port, until }) {
  const socket = await open(port);
  let closed;
  let sent = 0;
  socket.on('close', (code, reason) => {
    closed = `closed with ${code} ${reason}`;
  });
  while (performance.now() < until && !closed) {
    for (let i = 0; i < 1_000; i++, sent++) socket.send('{"type":"ping"}');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await sleep(until - performance.now());
  socket.terminate();
  return `${sent} messages sent; ${closed ?? 'not closed'}`;
}

/** Starts twenty subscriptions, each of which runs 99 counts for each event. */
async function dearSubscriptions({ port, until }) {
  const counts = repeat(99, (i) => `c${i}: pets(filter: { name: "${i}" }) { totalCount }`);
  const query = `subscription { petChanged { pet { category { ${counts} } } } }`;
  const socket = await open(port);
  const answers = new Map();
  socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data));
    const answer = payload?.[0]?.extensions?.code ?? type;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  });
  for (let i = 0; i < 20; i++) socket.send(JSON.stringify({ id: `${i}`, type: 'subscribe', payload: { query } }));
  await sleep(until - performance.now());
  socket.terminate();
  return textOf(answers);
}

/** How long statements of clients that have disconnected may still run or wait, in milliseconds. */
const CANCELLED_MS = 1_000;

const ORDERS = JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' });

/**
 * Sends a cheap request every 5 ms, each on a new connection.
 * @param leaveAfterMs the time after which a client without a response disconnects
 */
async function requestOrders({ port, until }, key, leaveAfterMs) {
  const request = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${ORDERS.length}\r\n\r\n${ORDERS}`;
  let sent = 0;
  while (performance.now() < until) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.once('data', () => socket.destroy());
    socket.write(request);
    sent++;
    if (leaveAfterMs) setTimeout(() => socket.destroy(), leaveAfterMs);
    await sleep(5);
  }
  return sent;
}

/** Sends requests that wait for a table lock, and disconnects each client after 80 ms. */
async function leavers(context) {
  const { url, database, key: adminKey, prepared: key } = context;
  const locker = new pg.Client(database);
  await locker.connect();
  await locker.query('begin; lock table orders in access exclusive mode');
  const sent = await requestOrders(context, key, 80);
  const blocked = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const end = performance.now() + CANCELLED_MS;
  let left = Number.NaN;
  do {
    await sleep(50);
    const { rows } = await locker.query(blocked);
    left = (await metricOf(url, adminKey, 'database_waiting')) + rows[0].count;
  } while (left && performance.now() < end);
  await locker.query('rollback');
  await locker.end();
  const answer = `${sent} clients left; ${left} statements remain`;
  return { answer, failure: left !== 0 && `statements remain after ${CANCELLED_MS} ms` };
}
leavers.prepare = async (context) => {
  const key = await newKey(context.url, context.key);
  // Until V8 has compiled the code for these requests, they take twice as long.
  await requestOrders({ ...context, until: performance.now() + 5_000 }, key);
  return key;
};
leavers.ordinary = (context) => requestOrders(context, context.prepared);
leavers.onPostgres = true;

/** The value of a metric. */
async function metricOf(url, adminKey, name) {
  const text = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': adminKey } })).text();
  return Number(new RegExp(`^petstore_${name} (\\d+)`, 'm').exec(text)?.[1]);
}

/** Creates a key whose quota no abuse uses up. @returns the full key. */
async function newKey(url, adminKey) {
  const input = '{ name: "Abuser", plan: ENTERPRISE, perMinute: 1000000, perDay: 1000000 }';
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': adminKey },
    body: JSON.stringify({ query: `mutation { createApiKey(input: ${input}) { secret } }` }),
  });
  return (await response.json()).data.createApiKey.secret;
}

/**
 * A costly query that counts the pets for twelve name filters.
 * @param n makes its values unique. @param shape makes its aliases unique.
 */
const searches = (n, shape = '') =>
  `{ ${repeat(12, (i) => `c${shape}_${i}: pets(filter: { name: "${n} ${i}" }) { totalCount }`)} }`;

/**
 * Allowed increase of the other caller's median response time during abuses that keep the database busy, in milliseconds:
 * searches, and writes that wait for a lock.
 */
const SEARCHES_MS = 40;

/** Keeps 200 searches in flight, from one caller. */
const searchesInFlight = (isUniqueShape) =>
  Object.assign(
    documents((n) => searches(n, isUniqueShape ? n : ''), 200, true),
    { allowedMs: SEARCHES_MS },
  );

/** Keeps 200 searches in flight over one WebSocket. */
const searchesOverWebSocket = Object.assign(
  async ({ url, port, until, key: adminKey }) => {
    const socket = await open(port, { 'x-api-key': await newKey(url, adminKey) });
    const answers = new Map();
    let sent = 0;
    const send = () =>
      socket.send(JSON.stringify({ id: `${sent}`, type: 'subscribe', payload: { query: searches(sent++) } }));
    socket.on('message', (data) => {
      const { type, payload } = JSON.parse(String(data));
      const answer = payload?.[0]?.extensions?.code ?? type;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (type === 'next' && performance.now() < until) send();
    });
    for (let i = 0; i < 200; i++) send();
    await sleep(until - performance.now());
    socket.terminate();
    return textOf(answers);
  },
  { allowedMs: SEARCHES_MS },
);

/** Keeps 100 writes in flight that wait for the lock of one category. */
const lockedCategory = Object.assign(
  async ({ url, until, database, key: adminKey }) => {
    const key = await newKey(url, adminKey);
    const locker = new pg.Client(database);
    await locker.connect();
    await locker.query('begin; select * from categories where id = 1 for update');
    const answers = new Map();
    const client = async () => {
      while (performance.now() < until) {
        const response = await fetch(`${url}/pets`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': key },
          body: '{"name":"Rex","categoryId":1}',
        });
        answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
        await response.arrayBuffer();
      }
    };
    const clients = Array.from({ length: 100 }, client);
    await sleep(until - performance.now());
    await locker.query('rollback');
    await locker.end();
    await Promise.all(clients);
    return textOf(answers);
  },
  { allowedMs: SEARCHES_MS, onPostgres: true },
);

/**
 * Opens connections that send requests as fast as they are answered.
 * @param before runs before the measurement, with the client address.
 * @param perConnection after this number of responses, the client opens a new connection, which is not paced yet.
 * @returns the number of responses by status, as text.
 */
function floods(requestFrom, connections, { before, perConnection = Infinity, env } = {}) {
  const prepare = async ({ url }) => {
    const address = newAddress();
    await before?.(url, address);
    return address;
  };
  const run = async ({ port, until, prepared: address }) => {
    const answers = new Map();
    const note = (answer) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const connectOnce = () =>
      new Promise((resolve) => {
        let received = 0;
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        const send = () => {
          if (performance.now() < until && received < perConnection) socket.write(requestFrom(address));
          else socket.destroy();
        };
        const timer = setTimeout(() => socket.destroy(), until - performance.now());
        socket.on('connect', send).on('close', () => {
          clearTimeout(timer);
          resolve(received >= perConnection);
        });
        socket.setEncoding('latin1').on('data', (data) => {
          for (const [, status] of data.matchAll(/HTTP\/1\.1 (\d+)/g)) {
            note(status);
            received++;
          }
          send();
        });
      });
    const client = async () => {
      while (performance.now() < until) {
        if (await connectOnce()) continue;
        note('closed');
        await sleep(10);
      }
    };
    await Promise.all(Array.from({ length: connections }, client));
    return textOf(answers);
  };
  return Object.assign(run, { prepare, env });
}

const requestOf = (address, headers, query) => {
  const body = JSON.stringify({ query });
  const head = [`POST /graphql HTTP/1.1`, 'host: 127.0.0.1', `x-forwarded-for: ${address}`, ...headers];
  return `${head.join('\r\n')}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

/** Gets an address banned. */
async function ban(url, address) {
  for (let i = 0; i < 90; i++)
    await (await fetch(`${url}/nothing`, { headers: { 'x-forwarded-for': address } })).arrayBuffer();
}

/** Uses up the quota of an address. */
async function spend(url, address) {
  for (let i = 0; i < 60; i++)
    await (await fetch(`${url}/nothing`, { headers: { 'x-forwarded-for': address } })).arrayBuffer();
}

let shapes = 0;
/** A document that takes long to validate. */
const slowToValidate = () => `{ pets { nodes { ${repeat(380, () => `category { id }`)} c${shapes++}: id } } }`;
const unknownKey = () => `ps_${String(++shapes).padStart(12, '0')}_${'x'.repeat(32)}`;

/** The memory that docs/bounds.md states for a process with PostgreSQL, in bytes. */
const MAX_MEMORY = 512e6;

/**
 * Ten keys ask for responses of 0.8 MB, thirty on each connection, and read nothing. The kernel accepts about four of them for
 * each connection.
 */
async function unread({ url, port, until, key: adminKey, memory, isEmbedded }) {
  const keys = await Promise.all(Array.from({ length: 10 }, () => newKey(url, adminKey)));
  const query = `{ pets(first: 100) { nodes { ${repeat(19, (i) => `${long(i, 395)}: name`)} } } }`;
  const sockets = [];
  let most = 0;
  for (let samples = 0; performance.now() < until; samples++) {
    for (const key of samples % 10 === 0 ? keys : []) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.pause();
      socket.write(requestOf(newAddress(), [`x-api-key: ${key}`], query).repeat(30));
      sockets.push(socket);
    }
    most = Math.max(most, memory());
    await sleep(50);
  }
  const unsent = await metricOf(url, adminKey, 'unsent_bytes');
  for (const socket of sockets) socket.destroy();
  const answer = `${(unsent / 1e6).toFixed(0)} MB unsent, ${(most / 1e6).toFixed(0)} MB of memory`;
  return { answer, failure: !isEmbedded && most > MAX_MEMORY && `more than ${MAX_MEMORY / 1e6} MB of memory` };
}

/** Maximum ratio of the median time of writes during events for a greedy subscriber to the median without it. */
const MAX_WRITE_RATIO = 2;

/** Changes a pet every 50 ms. @returns the times of the writes in milliseconds, sorted. */
async function timesOfWrites({ url, key }, until) {
  const times = [];
  while (performance.now() < until) {
    const started = performance.now();
    await (
      await fetch(`${url}/pets/1`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: '{"status":"sold"}',
      })
    ).arrayBuffer();
    times.push(performance.now() - started);
    await sleep(50);
  }
  return times.sort((a, b) => a - b);
}

/** 55 subscriptions of one caller select 110 fields each, while 20 pets a second are changed. */
async function greedySubscriptions(context) {
  const { url, port, until, key: adminKey, prepared: quiet } = context;
  const key = await newKey(url, adminKey);
  const socket = await open(port, { 'x-api-key': key });
  const answers = new Map();
  socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data));
    const answer = payload?.errors?.[0]?.extensions?.code ?? type;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  });
  for (let i = 0; i < 55; i++) {
    const query = `subscription { petChanged { pet { ${repeat(110, (n) => `s${i}n${n}: name`)} } } }`;
    socket.send(JSON.stringify({ id: `${i}`, type: 'subscribe', payload: { query } }));
  }
  const times = await timesOfWrites(context, until);
  socket.terminate();
  const [before, during] = [quiet, times].map((all) => all[Math.floor(all.length / 2)]);
  const answer = `${times.length} writes, median ${before.toFixed(1)} → ${during.toFixed(1)} ms, at most ${times.at(-1).toFixed(0)} ms; ${textOf(answers)}`;
  const isSlow = during > MAX_WRITE_RATIO * before;
  return { answer, failure: isSlow && `the median time of writes grew more than ${MAX_WRITE_RATIO} times` };
}
/** Times the writes without subscriptions. */
greedySubscriptions.prepare = (context) => timesOfWrites(context, performance.now() + 2_000);

/** Introspection with long aliases, nearly as large as an operation that uses no quota may be. */
const longIntrospection = () =>
  `{ ${repeat(12, (i) => `p${i}: __schema { types { ${repeat(38, (j) => `${long(j, 58)}: name`)} } }`)} }`;

/** The settings of a gateway that never bans. */
const NO_BANS = { BAN_AFTER: '1000000' };

/**
 * The abuses by name.
 * @type {Record<string, Abuse>}
 */
export const ABUSES = {
  // The first, since it gets a new gateway.
  'introspection with long aliases after a start': Object.assign(documents(longIntrospection), { isCold: true }),
  'clients that read nothing': unread,
  'usage under many aliases': documents(
    // With more aliases, the estimated cost would exceed 10,000.
    (n) => `{ viewer { ${repeat(238, (i) => `u${n}_${i}: usage(days: 1) { date }`)} } }`,
    8,
    true,
  ),
  'relations of a mutation under many aliases': documents(
    (n) =>
      `mutation { updatePet(id: 2, input: { status: sold }) { ${repeat(300, (i) => `c${n}_${i}: category { id }`)} } }`,
    4,
    true,
  ),
  'introspection of new documents': documents(
    (n) => `{ __schema { types { a${n}: name fields { name description type { name ofType { name } } } } } }`,
    8,
  ),
  'events for a greedy subscriber': greedySubscriptions,
  'documents of a banned caller': floods((address) => requestOf(address, [], slowToValidate()), 8, { before: ban }),
  'documents of a caller without quota': floods((address) => requestOf(address, [], slowToValidate()), 8, {
    before: spend,
    perConnection: 20,
    env: NO_BANS,
  }),
  'unknown keys': floods((address) => requestOf(address, [`x-api-key: ${unknownKey()}`], '{ __typename }'), 32),
  'unknown keys at /metrics': floods(
    (address) =>
      `GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: ${address}\r\nx-api-key: ${unknownKey()}\r\n\r\n`,
    32,
  ),
  'pipelined requests of a banned caller': floods((address) => requestOf(address, [], '{ __typename }').repeat(30), 4, {
    before: ban,
  }),
  'searches in flight': searchesInFlight(false),
  'searches of different shapes in flight': searchesInFlight(true),
  'searches in flight over WebSocket': searchesOverWebSocket,
  'writes onto a locked category': lockedCategory,
  'introspection with long aliases': documents(longIntrospection),
  'pages whose rows repeat long aliases': documents(
    () =>
      `{ ${repeat(12, (i) => `p${i}: pets(first: 100) { nodes { ${repeat(38, (j) => `${long(j, 150)}: name`)} } }`)} }`,
  ),
  'a hundred counts': documents(
    () => `{ category(id: 1) { ${repeat(100, (i) => `c${i}: pets(filter: { name: "0" }) { totalCount }`)} } }`,
    4,
  ),
  'documents of many shapes': documents(
    (n) =>
      `{ ${repeat(11, (i) => `p${i}: pets(first: 1) { nodes { ${repeat(20, (j) => `b${n}_${long(j, 40)}: name`)} } }`)} }`,
    4,
  ),
  'half-sent bodies': halfSent(
    (address) =>
      `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: ${address}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
  ),
  'half-sent heads': halfSent((address) => `GET /pets HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: ${address}\r\n`),
  'pings over WebSocket': pings,
  'subscriptions that count': dearSubscriptions,
  'clients that leave': leavers,
};
