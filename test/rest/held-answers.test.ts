import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { holdWhatWasHeard } from '../helper/connections';
import { type Gateway, startGateway } from '../helper/gateway';
import { exchange } from '../helper/wire';

/** A page of pets without the headers and fields that it must have. */
const WRONG = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[{"id":1}]';
const FAULTS = [
  'GET /pets 200: X-RateLimit-Limit is missing',
  'GET /pets 200: ETag is missing',
  `GET /pets 200: /0 must have required property 'name' {"missingProperty":"name"}`,
];

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
});
afterAll(() => gateway.close());

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server. @returns its URL. */
async function listening(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that responds `text` to anything. */
function answering(text: string): Promise<string> {
  return listening(createTcpServer((socket) => void socket.once('data', () => socket.end(text))));
}

/** What the suite has found wrong in responses since the last call. */
function faults(): string[] {
  try {
    holdWhatWasHeard();
    return [];
  } catch (error) {
    const [what, ...found] = (error as Error).message.split('\n');
    expect(what).toBe('The OpenAPI document does not have this:');
    return found;
  }
}

const byFetch = async (from: string) => (await fetch(`${from}/pets`)).text();
const CLIENTS: [string, (from: string) => Promise<unknown>][] = [
  ['fetch', byFetch],
  [
    'node:http',
    async (from) => {
      const [response] = await once(request(`${from}/pets?limit=1`).end(), 'response');
      await once(response.resume(), 'end');
    },
  ],
  ['raw bytes', (from) => exchange(from, 'GET /pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')],
  [
    'a client in another process',
    (from) => promisify(execFile)(process.execPath, ['-e', `fetch('${from}/pets').then((r) => r.text())`]),
  ],
];

describe('a response that violates the document is detected for', () => {
  test.each(CLIENTS.slice(0, 3))('%s', async (_name, ask) => {
    await ask(await answering(WRONG));
    expect(faults()).toEqual(expect.arrayContaining(FAULTS));
    expect(faults()).toEqual([]);
  });

  test.each(CLIENTS)('%s, from a server in this process', async (_name, ask) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[{"id"');
      response.end(':1}]'); // in chunks
    });
    await ask(await listening(server));
    expect(faults()).toEqual(expect.arrayContaining(FAULTS));
  });

  test.each([
    [
      'a second request on the connection',
      'HEAD /livez HTTP/1.1\r\n\r\nGET /pets HTTP/1.1\r\n\r\n',
      `HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n${WRONG}`,
    ],
    [
      'a request with a body',
      'GET /livez HTTP/1.1\r\nContent-Length: 3\r\n\r\nGETGET /pets HTTP/1.1\r\n\r\n',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n${WRONG}`,
    ],
    ['a request without its body', 'GET /pets HTTP/1.1\r\nContent-Length: 3\r\n\r\n', WRONG],
    ['an HTTP/1.0 request', 'GET /pets HTTP/1.0\r\n\r\n', WRONG.replace('Content-Length: 10\r\n', '')],
  ])('%s', async (_name, text, answer) => {
    await exchange(await answering(answer), text);
    expect(faults()).toEqual(expect.arrayContaining(FAULTS));
  });

  test('a request that is not HTTP', async () => {
    const answer = WRONG.replace('200 OK', '400 Bad Request');
    await exchange(await answering(answer), 'GARBAGE\r\n\r\n');
    expect(faults()).toEqual(
      expect.arrayContaining([
        'What is no HTTP 400: X-RateLimit-Limit is missing',
        'What is no HTTP 400:  must be object {"type":"object"}',
      ]),
    );
  });
});

test('an undeclared status is detected', async () => {
  await byFetch(await answering(WRONG.replace('200 OK', '418 Teapot')));
  expect(faults()).toEqual(['GET /pets declares no 418']);
});

test.each(CLIENTS)('responses of the gateway to %s are valid', async (_name, ask) => {
  await ask(url);
  expect(faults()).toEqual([]);
});

test('requests outside the document, and anything but HTTP, are not checked', async () => {
  await fetch(`${url}/livez`);
  await exchange(await answering('PONG GET /pets HTTP/1.1\r\n\r\n'), 'PING\r\n\r\n');
  expect(faults()).toEqual([]);
});
