// @ts-check
import { byId } from './elements.js';
import { exampleDocument } from './examples.js';
import { live } from './gateway.js';

// Sandbox is a page of Apollo, in a frame. The frame asks this page by messages to send its GraphQL requests. Apollo's
// script for this (https://github.com/apollographql/embeddable-explorer) would run in the origin that stores the key of
// this tab. Therefore this script answers the messages instead, and sends requests without that key: otherwise the frame
// could use an ADMIN key to create keys.

const APOLLO = 'https://sandbox.embed.apollographql.com';
const SANDBOX = `${APOLLO}/sandbox/explorer`;
/** The version of Apollo's script whose messages this script understands. */
const VERSION = '2.7.4';
/** Without a time limit, a browser behind a firewall that drops packets would wait for minutes. */
const TIMEOUT_MS = 8000;
/** Everything that Sandbox needs except navigating this tab. */
const PERMISSIONS =
  'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox';

/** @typedef {{ name: string, [field: string]: any }} Message */

const frame = document.createElement('iframe');
/** @type {Set<WebSocket>} */
const sockets = new Set();

try {
  await fetch(SANDBOX, { mode: 'no-cors', credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) });
  await embed();
} catch {
  location.replace('/graphiql?sandbox=unreachable');
}

async function embed() {
  const options = {
    endpoint: new URL('/graphql', location.href).href,
    subscriptionEndpoint: live,
    endpointIsEditable: 'false',
    defaultDocument: await exampleDocument(),
    defaultIncludeCookies: 'false',
    hideCookieToggle: 'true',
    sendOperationHeadersInIntrospection: 'true',
    shouldDefaultAutoupdateSchema: 'true',
    parentSupportsSubscriptions: 'true',
    runTelemetry: 'false',
    version: VERSION,
  };
  const query = Object.entries(options).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  frame.src = `${SANDBOX}?${query.join('&')}`;
  frame.title = 'Apollo Sandbox';
  frame.setAttribute('sandbox', PERMISSIONS);
  addEventListener('message', ({ source, origin, data }) => {
    if (source === frame.contentWindow && origin === APOLLO) ANSWERS[data?.name]?.(data);
  });
  byId('content').replaceChildren(frame);
}

/** @param {Message} message */
function post(message) {
  frame.contentWindow?.postMessage(message, APOLLO);
}

/** The answers to the frame's messages, by the name of the message. @type {Record<string, (message: Message) => void>} */
const ANSWERS = {
  // Without the fragment, which may contain a key.
  ExplorerListeningForHandshake: () =>
    post({ name: 'HandshakeResponse', parentHref: location.origin + location.pathname }),
  IntrospectionQueryWithHeaders: introspect,
  ExplorerRequest: run,
  ExplorerSubscriptionRequest: subscribe,
  ExplorerSubscriptionTermination: () => {
    for (const socket of sockets) socket.close();
  },
};

/**
 * Sends a request to the GraphQL endpoint of this server, wherever the frame wants to send it.
 * @param {Record<string, string> | undefined} headers the headers that the user has entered in Sandbox
 * @param {object} body
 */
function send(headers, body) {
  const all = new Headers(headers);
  all.set('content-type', 'application/json');
  return fetch('/graphql', { method: 'POST', headers: all, body: JSON.stringify(body), credentials: 'omit' });
}

/** @param {Message} message */
async function introspect({ operationId, introspectionRequestBody, introspectionRequestHeaders }) {
  try {
    const { query, operationName } = JSON.parse(introspectionRequestBody);
    const { data, errors } = await (await send(introspectionRequestHeaders, { query, operationName })).json();
    if (errors) post({ name: 'SchemaError', operationId, errors });
    post({ name: 'SchemaResponse', operationId, schema: data });
  } catch (error) {
    post({ name: 'SchemaError', operationId, error: String(error) });
  }
}

/** @param {Message} message */
async function run({ operationId, operation: query, variables, operationName, headers }) {
  /** @param {object} response */
  const answer = (response) =>
    post({ name: 'ExplorerResponse', operationId, response: { ...response, hasNext: false } });
  try {
    const response = await send(headers, { query, variables, operationName });
    const received = Object.fromEntries(response.headers);
    answer({ ...(await response.json()), status: response.status, headers: received });
  } catch (error) {
    answer({ data: null, error: { message: String(error) } });
  }
}

/** Subscribes over WebSocket, with the protocol graphql-transport-ws. @param {Message} message */
function subscribe({ operationId, operation: query, variables, operationName, headers }) {
  const socket = new WebSocket(live, 'graphql-transport-ws');
  sockets.add(socket);
  /** @param {object} message */
  const tell = (message) => socket.send(JSON.stringify(message));
  /** @param {'connecting' | 'connected' | 'disconnected'} status */
  const report = (status) => post({ name: 'ExplorerSetSocketStatus', status });
  /** @param {object} response */
  const answer = (response) => post({ name: 'ExplorerSubscriptionResponse', operationId, response });
  report('connecting');
  socket.addEventListener('open', () => tell({ type: 'connection_init', payload: headers ?? {} }));
  socket.addEventListener('message', ({ data }) => {
    const { type, payload } = JSON.parse(data);
    if (type === 'connection_ack') {
      report('connected');
      tell({ type: 'subscribe', id: operationId, payload: { query, variables, operationName } });
    }
    if (type === 'ping') tell({ type: 'pong' });
    if (type === 'next') answer({ data: payload });
    if (type === 'error') answer({ error: payload });
    if (type === 'error' || type === 'complete') socket.close();
  });
  socket.addEventListener('close', ({ reason }) => {
    sockets.delete(socket);
    if (reason) post({ name: 'ExplorerSetSocketError', error: { message: reason } });
    report('disconnected');
  });
}
