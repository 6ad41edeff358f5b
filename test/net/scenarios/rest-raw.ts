import type { Scenario } from '../scenario';
import { ADMIN_KEY } from '../server';

const BODY = '{"name":"Raw"}';

/** A request as admin with `Connection: close`. */
function closing(line: string, ...headers: string[]): string {
  return request(line, 'Connection: close', ...headers);
}

function request(line: string, ...headers: string[]): string {
  return [line, 'Host: petstore', `X-API-Key: ${ADMIN_KEY}`, ...headers, '', ''].join('\r\n');
}

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const LENGTH = `Content-Length: ${BODY.length}`;
const PATCH = 'PATCH /categories/1 HTTP/1.1';
const GET = 'GET /categories/2 HTTP/1.1';

const REQUESTS: readonly (readonly [title: string, bytes: string | Buffer | readonly (string | Buffer)[]])[] = [
  ['a line that is no HTTP', 'hello\r\n\r\n'],
  ['a TLS handshake', Buffer.from('1603010200010001fc0303', 'hex')],
  ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown version', 'GET /pets HTTP/3.0\r\nHost: x\r\n\r\n'],
  ['no version (HTTP/0.9)', 'GET /categories/2\r\n\r\n'],
  ['an unknown method', closing('BREW /pets HTTP/1.1')],
  ['a method in lower case', closing('get /pets HTTP/1.1')],
  ['a target with a space', closing('GET /pets?name=a b HTTP/1.1')],
  ['a target that is not ASCII', closing('GET /pets?name=ä HTTP/1.1')],
  ['empty lines before the request', `\r\n\r\n${closing(GET)}`],
  ['a request in pieces', [closing(GET).slice(0, 20), closing(GET).slice(20, 60), closing(GET).slice(60)]],
  ['lines that end with LF', closing(GET).replaceAll('\r\n', '\n')],
  ['a header without a colon', closing(GET, 'nothing')],
  ['a space before the colon', closing(GET, 'X-Test : 1')],
  ['a folded header', closing(GET, 'X-Test: 1\r\n 2')],
  ['a NUL in a header', closing(GET, 'X-Test: a\0b')],
  ['no Host', `GET /pets HTTP/1.1\r\nX-API-Key: ${ADMIN_KEY}\r\nConnection: close\r\n\r\n`],
  ['an empty Host', `GET /categories/2 HTTP/1.1\r\nHost:\r\nX-API-Key: ${ADMIN_KEY}\r\nConnection: close\r\n\r\n`],
  ['two Hosts', closing(GET, 'Host: other')],
  ['HTTP/1.0 without Host', `GET /categories/2 HTTP/1.0\r\nX-API-Key: ${ADMIN_KEY}\r\n\r\n`],
  ['HTTP/1.0 with two Hosts', request('GET /pets HTTP/1.0', 'Host: other')],
  ['HTTP/1.0 with keep-alive', request('GET /categories/2 HTTP/1.0', 'Connection: keep-alive')],
  ['a connection that is kept', request(GET)],
  ['the absolute form of the target', closing('GET http://other.example/categories/2 HTTP/1.1')],
  ['an absolute form with another scheme', closing('GET ftp://other.example/categories/2 HTTP/1.1')],
  ['the asterisk form', closing('OPTIONS * HTTP/1.1')],
  ['the asterisk form of GET', closing('GET * HTTP/1.1')],
  ['a target without a slash', closing('GET pets HTTP/1.1')],
  ['CONNECT', closing('CONNECT example.com:443 HTTP/1.1')],
  ['a URL of 8192 characters', closing(`GET ${'/nothing/'.padEnd(8192, 'x')} HTTP/1.1`)],
  ['a URL of 8193 characters', closing(`GET ${'/pets?name='.padEnd(8193, 'x')} HTTP/1.1`)],
  ['a long URL of POST', closing(`POST ${'/pets?name='.padEnd(8193, 'x')} HTTP/1.1`, JSON_TYPE, LENGTH) + BODY],
  ['a head of 17,000 characters', closing(GET, `X-Test: ${'x'.repeat(17_000)}`)],
  ['a thousand headers', closing(GET, ...Array.from({ length: 1000 }, () => 'a: 1'))],
  ['a body of GET', closing(GET, JSON_TYPE, LENGTH) + BODY],
  ['a body that is no JSON of GET', `${closing(GET, 'Content-Type: text/plain', 'Content-Length: 2')}no`],
  [
    'a body in chunks',
    `${closing(PATCH, JSON_TYPE, CHUNKED)}4;x=y\r\n${BODY.slice(0, 4)}\r\na\r\n${BODY.slice(4)}\r\n0\r\nTrailer: x\r\n\r\n`,
  ],
  ['an empty body in chunks', `${closing(PATCH, JSON_TYPE, CHUNKED)}0\r\n\r\n`],
  ['a chunk without a size', `${closing(PATCH, JSON_TYPE, CHUNKED)}zz\r\n`],
  ['a chunk that is longer than its size', `${closing(PATCH, JSON_TYPE, CHUNKED)}2\r\n${BODY}\r\n0\r\n\r\n`],
  ['a length and chunks', `${closing(PATCH, JSON_TYPE, LENGTH, CHUNKED)}0\r\n\r\n`],
  ['two lengths', closing(PATCH, JSON_TYPE, LENGTH, 'Content-Length: 2') + BODY],
  ['the same length twice', closing(PATCH, JSON_TYPE, LENGTH, LENGTH) + BODY],
  ['a length that is no number', closing(PATCH, JSON_TYPE, 'Content-Length: 1e1') + BODY],
  ['a negative length', closing(PATCH, JSON_TYPE, 'Content-Length: -1') + BODY],
  ['a huge length', closing(PATCH, JSON_TYPE, 'Content-Length: 99999999999999999999') + BODY],
  ['an unknown transfer encoding', closing(PATCH, JSON_TYPE, 'Transfer-Encoding: gzip') + BODY],
  ['chunks that are compressed', `${closing(PATCH, JSON_TYPE, 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
  ['no length', closing(PATCH, JSON_TYPE)],
  ['a body over 100 KiB, by its length', closing(PATCH, JSON_TYPE, 'Content-Length: 102401')],
  ['a body over 100 KiB, in chunks', `${closing(PATCH, JSON_TYPE, CHUNKED)}19001\r\n${' '.repeat(102_401)}\r\n`],
  [
    'a body that is not UTF-8',
    Buffer.concat([
      Buffer.from(closing(PATCH, JSON_TYPE, 'Content-Length: 12')),
      Buffer.from('{"name":"ü"}', 'latin1'),
    ]),
  ],
  ['Expect: 100-continue', [closing(PATCH, JSON_TYPE, LENGTH, 'Expect: 100-continue'), BODY]],
  ['another expectation', closing(GET, 'Expect: miracles')],
  [
    'Upgrade: h2c',
    request(GET, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
  ],
  [
    'an upgrade to WebSocket at a path of REST',
    request(
      GET,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ),
  ],
  ['HEAD', closing('HEAD /categories/2 HTTP/1.1')],
  ['If-None-Match: *', closing(GET, 'If-None-Match: *')],
  ['DELETE', closing('DELETE /pets/12 HTTP/1.1')],
  ['two keys', closing(GET, 'X-API-Key: wrong')],
  ['two lists of tags', closing(GET, 'If-None-Match: "a"', 'If-None-Match: *')],
  ['two content types', closing(PATCH, JSON_TYPE, 'Content-Type: text/plain', LENGTH) + BODY],
  ['a body that follows its length', `${request(PATCH, JSON_TYPE, LENGTH)}${BODY}hello\r\n\r\n`],
  [
    'pipelined requests',
    [GET, 'HEAD /pets HTTP/1.1', 'DELETE /pets/11 HTTP/1.1'].map((line) => request(line)).join('') +
      closing('GET /nothing HTTP/1.1'),
  ],
  ['a pipelined request that is no HTTP', `${request(GET)}hello\r\n\r\n`],
  ['a pipelined request after the last', closing(GET) + closing('DELETE /pets/10 HTTP/1.1')],
];

export const scenarios: Scenario[] = [
  {
    name: 'rest raw HTTP',
    once: true,
    run: async (net) => {
      await net.shop();
      for (const [title, bytes] of REQUESTS) await net.raw(title, bytes);
      await net.table('the pets after these requests', [['GET /pets?id=10&id=11&id=12']]);
    },
  },
  {
    name: 'rest slow requests and CORS_ORIGINS',
    once: true,
    settings: {
      HEADERS_TIMEOUT_MS: '300',
      KEEP_ALIVE_TIMEOUT_MS: '3000',
      CORS_ORIGINS: 'https://shop.example, http://localhost:3000',
    },
    run: async (net) => {
      const patient = 10_000;
      await net.raw('half a line', 'GET /pets HTT', patient);
      await net.raw('half a head', 'GET /pets HTTP/1.1\r\nHost: petstore\r\n', patient);
      await net.raw('half a head after a response', `${request('GET /categories HTTP/1.1')}GET /pets HTT`, patient);
      await net.raw('nothing after a response', request('GET /categories HTTP/1.1'), patient);
      for (const origin of [
        'https://shop.example',
        'http://localhost:3000',
        'https://evil.example',
        'https://shop.example.evil.example',
        'null',
      ]) {
        const headers = {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key',
        };
        await net.rest('OPTIONS /pets', { headers });
        await net.rest('GET /categories', { headers: { origin } });
      }
      await net.rest('GET /nothing', { headers: { origin: 'https://shop.example' } });
    },
  },
];
