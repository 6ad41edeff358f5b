import { connect } from 'node:net';
import { API_KEY } from './servers.mjs';
import { accept } from './works.mjs';

/** Number of distinct requests prepared; they are sent in turn. */
const PREPARED = 2_000;
/**
 * Number of requests prepared for a workload of new documents. With so many, the gateway has evicted a document before it is
 * sent again.
 */
const PREPARED_ONCE = 20_000;

/**
 * The bytes of one workload's requests, prepared before the clock starts.
 * @param credentials the header lines with a key or a token that the requests send in turn
 */
export function prepare(work, port, credentials = [`x-api-key: ${API_KEY}`]) {
  const length = work.once ? PREPARED_ONCE : PREPARED;
  const credentialOf = (i) => credentials[i % credentials.length];
  return Array.from({ length }, (_, i) => bytesOf(work, work.request(i), port, credentialOf(i)));
}

function bytesOf({ face }, { method, path, body, headers = {} }, port, credential) {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `accept: ${headers.accept ?? accept[face]}`,
    credential,
  ];
  const text = body ? JSON.stringify(body) : '';
  const { accept: _, ...others } = headers;
  const all = { ...(body && { 'content-type': 'application/json' }), ...others };
  for (const [name, value] of Object.entries(all)) head.push(`${name}: ${value}`);
  if (body) head.push(`content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** The number of requests sent from each array of prepared requests. */
const sentFrom = new WeakMap();

/** The next request. Each run continues after the last request of the previous run, so that new documents stay new. */
function nextOf(requests) {
  const sent = sentFrom.get(requests) ?? 0;
  sentFrom.set(requests, sent + 1);
  return requests[sent % requests.length];
}

/**
 * Sends prepared requests over `connections` keep-alive connections, one at a time on each, for `seconds`. Parses as
 * little HTTP as possible, so that the load generator is never the bottleneck.
 * @returns the number of `requests` answered, their `latencies` in ms (sorted), `failures` as text and count
 */
export async function load(port, requests, { connections, seconds }) {
  const run = { latencies: [], failures: new Map(), until: performance.now() + seconds * 1000 };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => converse(port, requests, run)));
  return {
    requests: run.latencies.length,
    seconds: (performance.now() - started) / 1000,
    latencies: Float64Array.from(run.latencies).sort(),
    failures: run.failures,
  };
}

/** Runs one connection until the time is up. */
function converse(port, requests, run) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let sentAt = 0;
    let answer = Buffer.alloc(0);
    let missing = 0;

    const send = () => {
      sentAt = performance.now();
      if (sentAt >= run.until) return socket.end();
      answer = Buffer.alloc(0);
      missing = 0;
      socket.write(nextOf(requests));
    };

    socket.on('connect', send);
    socket.on('data', (chunk) => {
      if (missing > 0) missing -= chunk.length;
      else {
        answer = answer.length ? Buffer.concat([answer, chunk]) : chunk;
        missing = missingOf(answer);
        if (missing < 0) return;
        if (failed(answer)) count(run.failures, summaryOf(answer));
      }
      if (missing > 0) return;
      run.latencies.push(performance.now() - sentAt);
      send();
    });
    socket.on('error', ({ message }) => count(run.failures, message));
    socket.on('close', () => {
      if (performance.now() < run.until) count(run.failures, 'connection closed');
      resolve();
    });
  });
}

/** Bytes of the response still to come; -1 if not known yet. */
function missingOf(answer) {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return -1;
  const head = answer.latin1Slice(0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head);
  if (length) return end + 4 + Number(length[1]) - answer.length;
  return answer.subarray(-5).equals(LAST_CHUNK) ? 0 : -1;
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Whether a response is not 2xx, or is a GraphQL response with errors. */
function failed(answer) {
  return answer[9] !== 0x32 || answer.includes('"errors":');
}

function summaryOf(answer) {
  const text = answer.latin1Slice();
  return `${text.slice(9, 12)} ${text.slice(text.indexOf('\r\n\r\n') + 4).slice(0, 200)}`;
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1);
}
