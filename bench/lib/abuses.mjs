import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { WebSocket } from 'ws';

let addresses = 0;
/** Returns a new client address, so that each abuse comes from a different address. */
const newAddress = () => `192.0.${Math.floor(++addresses / 250)}.${1 + (addresses % 250)}`;

/**
 * Sends one document after another on each connection, until the time is up.
 * @param hasKey whether the caller sends a key. The key has a quota that the caller cannot use up.
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
    return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
  };

const repeat = (count, one) => Array.from({ length: count }, (_, i) => one(i)).join(' ');
const long = (i, length) => `a${i}_${'x'.repeat(length)}`;

/** Keeps sockets with incomplete requests open. @param textOf returns the text to send, for a client address. */
const halfSent =
  (textOf) =>
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
        socket.write(textOf(address));
        // `/livez` is requested from this process, which must not be busy opening sockets meanwhile.
        if (sockets.push(socket) % 50 === 0) await sleep(1);
      }
      await sleep(100);
    }
    for (const socket of sockets) socket.destroy();
    return `${sockets.length} sockets; ${[...answers].map(([status, count]) => `${status} × ${count}`).join(', ') || 'none answered'}`;
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
  return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
}

/** Sends requests that wait for a table lock, and disconnects each client after 80 ms. */
async function leavers({ url, port, until, database, key: adminKey }) {
  const key = await newKey(url, adminKey);
  const locker = new pg.Client(database);
  await locker.connect();
  await locker.query('begin; lock table orders in access exclusive mode');
  const body = JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' });
  const request = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  let sent = 0;
  while (performance.now() < until) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(request);
    sent++;
    setTimeout(() => socket.destroy(), 80);
    await sleep(5);
  }
  await sleep(200);
  const metrics = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': adminKey } })).text();
  const waiting = /^petstore_database_waiting (\d+)/m.exec(metrics)?.[1];
  await locker.query('rollback');
  await locker.end();
  return `${sent} clients left; ${waiting} statements still wait`;
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
    return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
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
    return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
  },
  { allowedMs: SEARCHES_MS },
);

/** Opens connections that send requests as fast as they are answered. @returns the number of responses by status, as text. */
const floods =
  (textOf, connections, before) =>
  async ({ url, port, until, key: adminKey }) => {
    const address = newAddress();
    const key = await newKey(url, adminKey);
    await before?.(url, address);
    const answers = new Map();
    const note = (answer) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const connectOnce = () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        const send = () => (performance.now() < until ? socket.write(textOf(address, key)) : socket.destroy());
        socket.on('connect', send).on('close', resolve);
        socket.setEncoding('latin1').on('data', (data) => {
          for (const [, status] of data.matchAll(/HTTP\/1\.1 (\d+)/g)) note(status);
          send();
        });
        setTimeout(() => socket.destroy(), until - performance.now());
      });
    const client = async () => {
      while (performance.now() < until) {
        await connectOnce();
        note('closed');
        await sleep(10);
      }
    };
    await Promise.all(Array.from({ length: connections }, client));
    return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
  };

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

let shapes = 0;
/** A document that takes long to validate. */
const slowToValidate = () => `{ pets { nodes { ${repeat(380, () => `category { id }`)} c${shapes++}: id } } }`;
const unknownKey = () => `ps_${String(++shapes).padStart(12, '0')}_${'x'.repeat(32)}`;

/** Ten keys ask on 100 connections each for responses of 0.8 MB, and read nothing. */
async function unread({ url, port, until, key: adminKey }) {
  const keys = await Promise.all(Array.from({ length: 10 }, () => newKey(url, adminKey)));
  const query = `{ pets(first: 100) { nodes { ${repeat(19, (i) => `${long(i, 395)}: name`)} } } }`;
  const sockets = [];
  for (let i = 0; i < 100; i++) {
    for (const key of keys) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.pause();
      socket.write(requestOf(newAddress(), [`x-api-key: ${key}`], query));
      sockets.push([socket, key]);
    }
    await sleep(1);
  }
  while (performance.now() < until) {
    for (const [socket, key] of sockets)
      if (!socket.writableLength) socket.write(requestOf(newAddress(), [`x-api-key: ${key}`], query));
    await sleep(1000);
  }
  const metrics = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': adminKey } })).text();
  for (const [socket] of sockets) socket.destroy();
  return `${/^petstore_unsent_bytes (\d+)/m.exec(metrics)?.[1]} bytes unsent`;
}

/** 55 subscriptions of one caller select 110 fields each, while 20 pets a second are changed. */
async function greedySubscriptions({ url, port, until, key: adminKey }) {
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
  let written = 0;
  let slowest = 0;
  while (performance.now() < until) {
    const started = performance.now();
    await (
      await fetch(`${url}/pets/1`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'x-api-key': adminKey },
        body: '{"status":"sold"}',
      })
    ).arrayBuffer();
    slowest = Math.max(slowest, performance.now() - started);
    written++;
    await sleep(50);
  }
  socket.terminate();
  return `${written} writes, at most ${slowest.toFixed(0)} ms; ${[...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ')}`;
}

/** The abuses that need a PostgreSQL server. */
export const ON_POSTGRES = ['writes onto a locked category', 'clients that leave'];

/** The abuses by name. */
export const ABUSES = {
  'clients that read nothing': unread,
  'usage under many aliases': documents(
    (n) => `{ viewer { ${repeat(300, (i) => `u${n}_${i}: usage(days: 1) { date }`)} } }`,
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
  'documents of a banned caller': floods((address) => requestOf(address, [], slowToValidate()), 8, ban),
  'unknown keys': floods((address) => requestOf(address, [`x-api-key: ${unknownKey()}`], '{ __typename }'), 32),
  'pipelined requests of a banned caller': floods(
    (address) => requestOf(address, [], '{ __typename }').repeat(30),
    4,
    ban,
  ),
  'searches in flight': searchesInFlight(false),
  'searches of different shapes in flight': searchesInFlight(true),
  'searches in flight over WebSocket': searchesOverWebSocket,
  'writes onto a locked category': lockedCategory,
  'introspection with long aliases': documents(
    () => `{ ${repeat(30, (i) => `p${i}: __schema { types { ${repeat(38, (j) => `${long(j, 58)}: name`)} } }`)} }`,
  ),
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
