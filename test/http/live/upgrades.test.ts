import { connect } from 'node:net';
import { emptyDatabase } from '../../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../../helper/gateway';
import { until } from '../../helper/until';

let gateway: Gateway;
let port: number;
beforeAll(async () => {
  gateway = await startGateway();
  port = Number(new URL(await gateway.listen()).port);
});
beforeEach(() => emptyDatabase(gateway.database));
afterAll(() => gateway.close());

/** Sends bytes piece by piece, and returns what comes back once `done` accepts it. */
async function exchange(pieces: string[], done: (received: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await until(async () => done(received));
  socket.destroy();
  return received;
}

const HOST = `Host: x\r\nX-API-Key: ${ADMIN_KEY}\r\n`;
const OFFER = `${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n`;
const post = (name: string) => {
  const body = JSON.stringify({ name });
  return [
    `POST /categories HTTP/1.1\r\n${OFFER}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    body,
  ];
};

test('a client that offers HTTP/2 is answered over HTTP/1.1, with its body, on the same connection', async () => {
  const [head = '', body = ''] = post('Fïsh');
  const requests = [
    head + body,
    ...post('Birds'),
    `GET /categories?name=Bird HTTP/1.1\r\n${OFFER}\r\n`,
    `GET /livez HTTP/1.1\r\n${HOST}\r\n`,
  ];
  const received = await exchange(requests, (text) => text.includes('"process":"ok"'));
  const [, ...answers] = received.split('HTTP/1.1 ');
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['201', '201', '200', '200']);
  expect(answers[0]).toContain('{"id":1,"name":"Fïsh"}');
  expect(answers[2]).toContain('[{"id":2,"name":"Birds"}]');
  for (const answer of answers.slice(0, 3)) expect(answer).toContain('x-ratelimit-remaining');
});

test('offers sent without waiting for a response are answered in order', async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const requests = names.flatMap((name) => [post(name).join(''), `GET /categories?limit=1 HTTP/1.1\r\n${HOST}\r\n`]);
  const received = await exchange([requests.join('')], (text) => text.split('HTTP/1.1 ').length > 60);
  const created = [...received.matchAll(/"name":"(n\d+)"\}(?!\])/g)].map(([, name]) => name);
  expect(created).toEqual(names);
  expect(warnings).toEqual([]);
  process.off('warning', warn);
});

test('an upgrade to WebSocket waits for the responses before it', async () => {
  const request = `GET /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}\r\n`;
  const pets = `GET /pets HTTP/1.1\r\n${HOST}\r\n`;
  const received = await exchange([pets + pets + request], (text) => text.includes('Sec-WebSocket-Accept'));
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '200', '101']);
});

const WEBSOCKET = `${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`;
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

test.each<[string, string, string]>([
  ['at another path is an ordinary request', `GET /categories HTTP/1.1\r\n${WEBSOCKET}${KEY}`, '200'],
  ['at an unknown path is not found', `GET /nowhere HTTP/1.1\r\n${WEBSOCKET}${KEY}`, '404'],
  ['with another method is an ordinary request', `DELETE /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}`, '405'],
  ['without its key is refused', `GET /graphql HTTP/1.1\r\n${WEBSOCKET}`, '400'],
  ['of another version is refused', `GET /graphql HTTP/1.1\r\n${WEBSOCKET.replace('13', '7')}${KEY}`, '400'],
  ...['a,,b', 'a,', ',a', '', 'a b', 'a;b', 'a/b', '"a"', 'a, a', 'é'].map((protocols): [string, string, string] => [
    `with the protocols '${protocols}' is refused`,
    `GET /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}Sec-WebSocket-Protocol: ${protocols}\r\n`,
    '400',
  ]),
])('a WebSocket request %s', async (_name, head, status) => {
  const received = await exchange([`${head}\r\n`], (text) => text.includes('\r\n\r\n'));
  expect(received.slice(9, 12)).toBe(status);
  expect(received).toContain('x-ratelimit-remaining');
  expect(received).toContain('x-request-id');
});

test.each(['graphql-transport-ws', 'a, graphql-transport-ws', " a\t,\tb-1.0_~!#$%&'*+^`| "])(
  'a WebSocket request with the protocols %j is upgraded',
  async (protocols) => {
    const head = `GET /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}Sec-WebSocket-Protocol: ${protocols}\r\n\r\n`;
    const received = await exchange([head], (text) => text.includes('\r\n\r\n'));
    expect(received).toMatch(/^HTTP\/1\.1 101 /);
    for (const header of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy', 'x-request-id'])
      expect(received.toLowerCase()).toContain(`\r\n${header}: `);
  },
);

test('a WebSocket request is upgraded, and one reset on the way does no harm', async () => {
  const received = await exchange([`GET /graphql?a=b HTTP/1.1\r\n${WEBSOCKET}${KEY}\r\n`], (text) =>
    text.includes('\r\n\r\n'),
  );
  expect(received).toMatch(/^HTTP\/1\.1 101 /);
  for (let i = 0; i < 20; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET /graphql HTTP/1.1\r\n${WEBSOCKET}${KEY}\r\n`);
    setTimeout(() => socket.resetAndDestroy(), i);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await gateway.app.inject({ url: '/livez' })).statusCode).toBe(200);
});
