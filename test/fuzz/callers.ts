import fc from 'fast-check';
import { ADMIN_KEY } from '../helper/gateway';
import { mostly, texts } from './values';

type Headers = Record<string, string>;

/** A request for `inject`, which passes it to the server without a socket. */
export interface FuzzedRequest {
  method: string;
  url: string;
  headers: Headers;
  payload?: string | Buffer;
  /** The client's address, which is random, so that few requests exceed a rate limit. */
  remoteAddress: string;
}

/** Values that HTTP allows in a header, without control characters. Node's HTTP parser rejects all others. */
const headerTexts = texts.map((text) =>
  text
    .replace(/[^\t -~\x80-\xff]/g, '?')
    .trim()
    .slice(0, 3000),
);

const KEYS = fc.oneof<fc.WeightedArbitrary<Headers>[]>(
  { arbitrary: fc.constant({ 'x-api-key': ADMIN_KEY }), weight: 24 },
  { arbitrary: fc.constant({ authorization: `Bearer ${ADMIN_KEY}` }), weight: 2 },
  { arbitrary: fc.constant({}), weight: 3 },
  { arbitrary: fc.constantFrom('Basic', 'Bearer', ' ').map((authorization) => ({ authorization })), weight: 1 },
  { arbitrary: headerTexts.map((key) => ({ 'x-api-key': key })), weight: 1 },
);

const VALUES: Record<string, readonly string[]> = {
  accept: ['application/json', '*/*', 'text/html', 'application/*;q=0', 'application/json;q=0.5, */*;q=0.1', ',;='],
  'content-encoding': ['gzip', 'identity', 'br, gzip'],
  origin: ['https://example.com', 'null', 'http://[::1]'],
  'if-none-match': ['*', '"x"', 'W/"x", "y"', '"'],
  'if-match': ['*', '"x"', 'W/"x", "y"', '"'],
  'idempotency-key': ['one', 'two', 'three', 'x'.repeat(255), 'x'.repeat(256)],
  'x-request-id': ['abc', 'x'.repeat(200)],
  'x-forwarded-for': ['1.2.3.4', '::1, 10.0.0.1', '1.2.3.4:99999'],
  expect: ['100-continue', 'nothing'],
  range: ['bytes=0-1'],
  host: ['', 'a b', 'example.com:99999', '[::'],
};

const headers: fc.Arbitrary<Headers> = fc
  .tuple(
    KEYS,
    ...Object.entries(VALUES).map(([name, values]) => {
      const given = mostly(fc.constantFrom(...values), headerTexts, 3).map((value): Headers => ({ [name]: value }));
      return mostly(fc.constant<Headers>({}), given, 12);
    }),
  )
  .map((all) => Object.assign({}, ...all));

/** Adds a random caller, address, and valid or invalid headers to a request. */
export function byAnyCaller(
  request: fc.Arbitrary<{ method: string; url: string; type?: string; payload?: string | Buffer }>,
): fc.Arbitrary<FuzzedRequest> {
  return fc
    .tuple(headers, fc.oneof(fc.ipV4(), fc.ipV6()), request)
    .map(([headers, remoteAddress, { method, url, type, payload }]) => ({
      ...{ method, url, remoteAddress },
      headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
      ...(payload !== undefined && { payload }),
    }));
}
